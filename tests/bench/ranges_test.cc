#include "bench/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.h"

namespace shoal::bench {
namespace {

using testing::ElementsAre;

TEST(SizesOfTest, MultiplyUpToTheLast) {
  EXPECT_THAT(*SizesOf({8, 8 * 64, 4}), ElementsAre(8, 32, 128, 512));
  EXPECT_THAT(*SizesOf({1, 1, 2}), ElementsAre(1));
}

TEST(SizesOfTest, IncludeALastThatTheStepsMiss) {
  EXPECT_THAT(*SizesOf({8, 100, 4}), ElementsAre(8, 32, 100));
  EXPECT_EQ(SizesOf({8, 256 * kMiB, 4})->back(), 256 * kMiB);
}

TEST(SizesOfTest, GoOnFromNothing) {
  EXPECT_THAT(*SizesOf({0, 9, 3}), ElementsAre(0, 1, 3, 9));
  EXPECT_THAT(*SizesOf({0, 0, 2}), ElementsAre(0));
}

TEST(SizesOfTest, DoNotOverflow) {
  const auto sizes = SizesOf({INT64_MAX / 2, INT64_MAX, 4});
  ASSERT_TRUE(sizes.ok());
  EXPECT_THAT(*sizes, ElementsAre(INT64_MAX / 2, INT64_MAX));
}

TEST(SizesOfTest, RefuseWhatDoesNotGrow) {
  for (const SizeSweep& sweep : {SizeSweep{8, 4, 2}, SizeSweep{8, 16, 1}, SizeSweep{-1, 16, 2}}) {
    EXPECT_EQ(SizesOf(sweep).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(ParseCountsTest, TakesNumbersListsAndSteps) {
  EXPECT_THAT(*ParseCounts("4"), ElementsAre(4));
  EXPECT_THAT(*ParseCounts("512,8192,1000000"), ElementsAre(512, 8192, 1000000));
  EXPECT_THAT(*ParseCounts("1:16:2x"), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(*ParseCounts("1:10:3x"), ElementsAre(1, 3, 9, 10));
  EXPECT_THAT(*ParseCounts("1:7:2+"), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(*ParseCounts("2:7:3+"), ElementsAre(2, 5, 7));
}

TEST(ParseCountsTest, RefusesTheRest) {
  for (const char* text : {"", "0", "-1", "a", "1,", "1:2", "1:2:3", "1:16:1x", "4:1:2x", "1:4:0+",
                           "1:4:x", "1:2:3:4", "1:9:"}) {
    EXPECT_EQ(ParseCounts(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace shoal::bench
