#include "kernels/program/reductions.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace shoal::kernels::program {
namespace {

/// Reductions of one array.
class ReductionsTest : public ::testing::Test {
 protected:
  Value Array(DType dtype, const std::vector<int64_t>& extents) {
    return builder_.Input({dtype, *Shape::Create(extents)});
  }
  static ReduceOptions Axes(std::vector<int64_t> axes, bool keepdims = false) {
    return {.axes = std::move(axes), .keepdims = keepdims};
  }
  std::string ShapeOf(const absl::StatusOr<Value>& value) {
    return value.ok() ? builder_.TypeOf(*value).shape.ToString()
                      : std::string(value.status().message());
  }
  std::string SumOver(const Value& x, const ReduceOptions& options) {
    return ShapeOf(Reduce(builder_, "sum", x, options));
  }
  /// The folds of the graph so far, in order.
  std::vector<FoldShape> Folds() {
    std::vector<FoldShape> folds;
    for (const Node& node : std::move(builder_).Finish().nodes) {
      if (node.kind == NodeKind::kReduce) folds.push_back(node.fold);
    }
    return folds;
  }

  GraphBuilder builder_;
};

TEST_F(ReductionsTest, ShapesAreThoseOfNumPy) {
  const Value x = Array(DType::kFloat32, {2, 3, 4});
  EXPECT_EQ(SumOver(x, {}), "()");
  EXPECT_EQ(SumOver(x, {.axes = {}, .keepdims = true}), "(1, 1, 1)");
  EXPECT_EQ(SumOver(x, Axes({0})), "(3, 4)");
  EXPECT_EQ(SumOver(x, Axes({-1})), "(2, 3)");
  EXPECT_EQ(SumOver(x, Axes({0, 2})), "(3,)");
  EXPECT_EQ(SumOver(x, Axes({2, 0}, true)), "(1, 3, 1)");
  EXPECT_EQ(SumOver(x, Axes({})), "(2, 3, 4)");
  EXPECT_EQ(SumOver(Array(DType::kInt8, {}), {}), "()");
}

TEST_F(ReductionsTest, AxesThatAreNotThereAreRefused) {
  const Value x = Array(DType::kFloat32, {2, 3});
  EXPECT_EQ(SumOver(x, Axes({2})), "axis 2 of an array of shape (2, 3)");
  EXPECT_EQ(SumOver(x, Axes({-3})), "axis -3 of an array of shape (2, 3)");
  EXPECT_EQ(SumOver(x, Axes({1, -1})), "axis -1 stands twice");
  EXPECT_EQ(ShapeOf(ArgMax(builder_, x, Axes({0, 1}))), "takes one axis, or none");
}

TEST_F(ReductionsTest, AdjacentAxesAreOneFoldTheInnermostComesFirst) {
  const Value x = Array(DType::kFloat32, {2, 3, 4, 5});
  ASSERT_EQ(SumOver(x, Axes({1, 2})), "(2, 5)");
  ASSERT_EQ(SumOver(x, Axes({0, 3})), "(3, 4)");
  const std::vector<FoldShape> expected = {{2, 12, 5}, {24, 5, 1}, {1, 2, 12}};
  EXPECT_EQ(Folds(), expected);
}

TEST_F(ReductionsTest, BothFoldsOfAHalfAreOfFloats) {
  const Value x = Array(DType::kFloat16, {2, 3, 4});
  const Value sum = *Reduce(builder_, "sum", x, Axes({0, 2}));
  EXPECT_EQ(builder_.TypeOf(sum).dtype, DType::kFloat16);
  const Graph graph = std::move(builder_).Finish();
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::kReduce) continue;
    EXPECT_EQ(node.type.dtype, DType::kFloat32);
  }
}

TEST_F(ReductionsTest, DTypesAreThoseOfNumPy) {
  const auto dtype = [&](const absl::StatusOr<Value>& value) {
    return std::string(Name(builder_.TypeOf(*value).dtype));
  };
  const Value small = Array(DType::kInt8, {2, 3});
  const Value half = Array(DType::kFloat16, {2, 3});
  const Value complex = Array(DType::kComplex64, {2, 3});
  EXPECT_EQ(dtype(Reduce(builder_, "prod", small, {})), "int64");
  EXPECT_EQ(dtype(Reduce(builder_, "max", small, {})), "int8");
  EXPECT_EQ(dtype(Mean(builder_, small, {})), "float64");
  EXPECT_EQ(dtype(Mean(builder_, half, {})), "float16");
  EXPECT_EQ(dtype(Variance(builder_, complex, {})), "float32");
  EXPECT_EQ(dtype(Norm(builder_, complex, {})), "float32");
  EXPECT_EQ(dtype(Any(builder_, complex, {})), "bool");
  EXPECT_EQ(dtype(ArgMin(builder_, half, {})), "int64");
}

TEST_F(ReductionsTest, OfNoElementsThereIsNoGreatestOne) {
  const Value empty = Array(DType::kFloat32, {0, 3});
  EXPECT_EQ(ShapeOf(Reduce(builder_, "max", empty, {})), "max of no elements has no value");
  EXPECT_EQ(ShapeOf(Reduce(builder_, "max", empty, Axes({0}))), "max of no elements has no value");
  EXPECT_EQ(ShapeOf(Reduce(builder_, "max", empty, Axes({1}))), "(0,)");
  EXPECT_EQ(SumOver(empty, {}), "()");
  EXPECT_EQ(ShapeOf(ArgMax(builder_, empty, {})), "max of no elements has no value");
}

TEST_F(ReductionsTest, ANumberIsAnArrayOfOne) {
  EXPECT_EQ(SumOver(GraphBuilder::Number(2.0, WeakKind::kFloat), {}), "()");
  EXPECT_EQ(ShapeOf(Variance(builder_, GraphBuilder::Number(int64_t{2}, WeakKind::kInt), {})),
            "()");
}

}  // namespace
}  // namespace shoal::kernels::program
