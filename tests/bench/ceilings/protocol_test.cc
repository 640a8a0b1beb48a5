#include "bench/ceilings/protocol.h"

#include <gtest/gtest.h>

namespace shoal::bench {
namespace {

TEST(CallHeaderTest, ComesBackAsItWas) {
  const CallHeader header = {Verb::kEcho, 1234, int64_t{5} << 30, int64_t{1} << 30};
  const auto decoded = DecodeHeader(EncodeHeader(header));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->verb, header.verb);
  EXPECT_EQ(decoded->slot, header.slot);
  EXPECT_EQ(decoded->request_bytes, header.request_bytes);
  EXPECT_EQ(decoded->reply_bytes, header.reply_bytes);
}

TEST(CallHeaderTest, RefusesWhatNoClientOfOursSends) {
  for (const CallHeader& header :
       {CallHeader{static_cast<Verb>(0), 0, 0, 0}, CallHeader{static_cast<Verb>(6), 0, 0, 0},
        CallHeader{Verb::kPut, -1, 0, 0}, CallHeader{Verb::kPut, 1 << 30, 0, 0},
        CallHeader{Verb::kPut, 0, -1, 0}, CallHeader{Verb::kPut, 0, int64_t{1} << 50, 0},
        CallHeader{Verb::kGet, 0, 0, -1}, CallHeader{Verb::kEcho, 0, 8, 9},
        CallHeader{Verb::kReflect, 0, 8, 9}}) {
    EXPECT_EQ(DecodeHeader(EncodeHeader(header)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace shoal::bench
