#include "server/memory/shortage.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"

namespace shoal::memory {
namespace {

TEST(ShortageTest, RidesOnItsStatus) {
  const Shortage shortage{INT64_MAX, 0, 5};
  const absl::Status status = ShortageError("worker 1", shortage);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ShortageOf(status), shortage);
  EXPECT_TRUE(shortage.IsPermanent());
  EXPECT_FALSE((Shortage{5, 0, 5}).IsPermanent()) << "it fits once something was freed";
}

TEST(ShortageTest, OtherStatusesHaveNone) {
  EXPECT_EQ(ShortageOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(ShortageOf(absl::ResourceExhaustedError("queue full")), std::nullopt);
}

TEST(ShortageTest, PayloadsThatAreNotOursAreNone) {
  absl::Status status = absl::ResourceExhaustedError("memory");
  for (const char* const text : {"", "1 2", "1 2 3 4", "a b c", "1 2 99999999999999999999"}) {
    status.SetPayload("shoal/memory.Shortage", absl::Cord(text));
    EXPECT_EQ(ShortageOf(status), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace shoal::memory
