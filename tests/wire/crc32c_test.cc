#include "wire/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::wire {
namespace {

absl::Span<const std::byte> Bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(Crc32cTest, MatchesThePublishedVectors) {
  EXPECT_EQ(Crc32c({}), 0U);
  EXPECT_EQ(Crc32c(Bytes("123456789")), 0xE3069283U);
  // RFC 3720, B.4: 32 bytes of zeros, of ones, and 0..31.
  EXPECT_EQ(Crc32c(Bytes(std::string(32, '\0'))), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(Bytes(std::string(32, '\xFF'))), 0x62A8AB43U);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending.push_back(c);
  EXPECT_EQ(Crc32c(Bytes(ascending)), 0x46DD794EU);
}

TEST(Crc32cTest, ExtendingIsConcatenating) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text.push_back(static_cast<char>(i * 37));
  const uint32_t whole = Crc32c(Bytes(text));
  for (size_t cut : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{4097}, text.size()}) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(Bytes(text.substr(0, cut))), Bytes(text.substr(cut))), whole);
  }
}

}  // namespace
}  // namespace shoal::wire
