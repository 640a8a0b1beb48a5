#include "kernels/shape.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal::kernels {
namespace {

TEST(ShapeTest, ScalarHasOneElementAndNoAxes) {
  const Shape scalar = *Shape::Create({});
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.element_count(), 1);
  EXPECT_EQ(scalar.row_count(), 1);
  EXPECT_EQ(scalar.ToString(), "()");
}

TEST(ShapeTest, ZeroExtentIsKept) {
  const Shape empty = *Shape::Create({3, 0, 5});
  EXPECT_EQ(empty.element_count(), 0);
  EXPECT_EQ(empty.ToString(), "(3, 0, 5)");
  EXPECT_EQ(*empty.ByteCount(DType::kFloat64), 0);
}

TEST(ShapeTest, RefusesWhatNoMemoryCouldHold) {
  const int64_t huge = int64_t{1} << 62;
  const std::vector<int64_t> rank33(33, 1);
  for (const auto& extents :
       std::vector<std::vector<int64_t>>{{-1}, {2, -3}, {huge, 2}, {0, huge, 4}, rank33}) {
    EXPECT_EQ(Shape::Create(extents).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(Shape::Create(std::vector<int64_t>(32, 1)).ok());
  EXPECT_EQ(Shape::Create({huge})->ByteCount(DType::kInt64).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shoal::kernels
