#include "bench/kernels/points.h"

#include <gtest/gtest.h>

namespace shoal::bench {
namespace {

using kernels::DType;

TEST(ParseElementsTest, EndsAloneMeanAFactorOfEight) {
  EXPECT_EQ(*ParseElements("1024:65536"), (std::vector<int64_t>{1024, 8192, 65536}));
  EXPECT_EQ(*ParseElements("8:32:2x"), (std::vector<int64_t>{8, 16, 32}));
  EXPECT_EQ(*ParseElements("5,7"), (std::vector<int64_t>{5, 7}));
}

TEST(ParseElementsTest, RefusesWhatIsNoNumberOfElements) {
  for (const char* text : {"", "0", "x", "8:4", "1:2:3:4", "-1", "2000000000000"}) {
    EXPECT_EQ(ParseElements(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(PointsOfTest, EachCaseHasTheDTypesItIsMadeFor) {
  const auto points = PointsOf({.cases = {"remainder", "add"},
                                .dtypes = {"float32", "int64"},
                                .elements = "4,8",
                                .threads = "1,2"});
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 12U);
  EXPECT_EQ(points->front().which->name, "add");
  EXPECT_EQ(points->front().dtype, DType::kFloat32);
  EXPECT_EQ((*points)[1].threads, 2) << "threads turn fastest";
  EXPECT_EQ((*points)[2].elements, 8);
  EXPECT_EQ(points->back().which->name, "remainder");
  EXPECT_EQ(points->back().dtype, DType::kInt64);
}

TEST(PointsOfTest, NothingToMeasureIsAnError) {
  const PointChoice choice{
      .cases = {"remainder"}, .dtypes = {"float32"}, .elements = "4", .threads = "1"};
  EXPECT_EQ(PointsOf(choice).status(), absl::InvalidArgumentError("no case has these dtypes"));
  for (const char* threads : {"0", "257", "x"}) {
    PointChoice other = choice;
    other.threads = threads;
    EXPECT_EQ(PointsOf(other).status().code(), absl::StatusCode::kInvalidArgument) << threads;
  }
}

}  // namespace
}  // namespace shoal::bench
