#include "server/plan/typing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::plan {
namespace {

using kernels::DType;
using kernels::FindOp;

ArrayType Of(DType dtype, std::vector<int64_t> extents) { return {dtype, *Shape::Create(extents)}; }

absl::StatusOr<ArrayType> OutputOf(const char* op, std::vector<ArrayType> inputs) {
  const auto outputs = OutputTypes(*FindOp(op), inputs);
  if (!outputs.ok()) return outputs.status();
  EXPECT_EQ(outputs->size(), 1U);
  return outputs->front();
}

TEST(OutputTypesTest, ElementwiseKeepsDTypeAndShape) {
  for (const char* op : {"axpy", "add", "multiply"}) {
    const ArrayType x = Of(DType::kInt16, {3, 0, 2});
    EXPECT_EQ(*OutputOf(op, {x, x}), x) << op;
  }
}

TEST(OutputTypesTest, ASingleElementGoesWithEveryShapeOfAsManyAxes) {
  const ArrayType x = Of(DType::kFloat64, {4, 5});
  for (const std::vector<int64_t>& single : {std::vector<int64_t>{}, {1}, {1, 1}}) {
    const ArrayType y = Of(DType::kFloat64, single);
    EXPECT_EQ(*OutputOf("add", {x, y}), x);
    EXPECT_EQ(*OutputOf("add", {y, x}), x);
  }
  // Broadcast over nothing there is nothing.
  const ArrayType empty = Of(DType::kFloat64, {0});
  EXPECT_EQ(*OutputOf("add", {empty, Of(DType::kFloat64, {1})}), empty);
}

TEST(OutputTypesTest, ASingleElementOfMoreAxesIsNotTakenForAScalar) {
  // NumPy's result would have the shape (1, 5), which neither input has.
  const auto status = OutputOf("add", {Of(DType::kInt8, {5}), Of(DType::kInt8, {1, 1})}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
}

TEST(OutputTypesTest, TellsUnbuiltBroadcastingFromShapesThatNeverFit) {
  const ArrayType x = Of(DType::kInt32, {2, 3});
  EXPECT_EQ(OutputOf("add", {x, Of(DType::kInt32, {3})}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(OutputOf("add", {x, Of(DType::kInt32, {4})}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputOf("dot", {x, Of(DType::kInt32, {1})}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(OutputTypesTest, ReductionsGiveAScalarAndSumsWiden) {
  EXPECT_EQ(*OutputOf("sum", {Of(DType::kInt8, {7, 2})}), Of(DType::kInt64, {}));
  EXPECT_EQ(*OutputOf("sum", {Of(DType::kBool, {})}), Of(DType::kInt64, {}));
  EXPECT_EQ(*OutputOf("sum", {Of(DType::kUint8, {0})}), Of(DType::kUint64, {}));
  const ArrayType x = Of(DType::kInt8, {7});
  EXPECT_EQ(*OutputOf("dot", {x, x}), Of(DType::kInt8, {}));
}

TEST(OutputTypesTest, RefusesMixedDTypesScalarsInSortsAndUnbuiltDTypes) {
  EXPECT_EQ(OutputOf("add", {Of(DType::kInt8, {1}), Of(DType::kInt16, {1})}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(OutputOf("sort", {Of(DType::kInt8, {})}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputOf("sort", {Of(DType::kComplex64, {1})}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(OutputOf("axpy", {Of(DType::kBool, {1}), Of(DType::kBool, {1})}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(OutputTypesTest, EchoGivesBackEachInputWhateverItIs) {
  const std::vector<ArrayType> inputs = {Of(DType::kBool, {}), Of(DType::kComplex128, {0, 3})};
  const auto outputs = OutputTypes(*FindOp("echo"), inputs);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(std::vector<ArrayType>(outputs->begin(), outputs->end()), inputs);
  EXPECT_TRUE(OutputTypes(*FindOp("echo"), {})->empty());
}

TEST(CheckArityTest, NamesWhatTheOpTakes) {
  EXPECT_TRUE(CheckArity(*FindOp("echo"), 0).ok());
  EXPECT_TRUE(CheckArity(*FindOp("add"), 2).ok());
  const absl::Status wrong = CheckArity(*FindOp("add"), 3);
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(wrong.message(), "add takes 2 arguments, not 3");
  EXPECT_EQ(CheckArity(*FindOp("echo"), 5).message(), "echo takes 0 to 4 arguments, not 5");
}

TEST(EstimateCostTest, GrowsWithTheElementsAndNeverOverflows) {
  for (const kernels::OpInfo& op : kernels::AllOps()) {
    Duration last(0);
    for (const int64_t elements : {int64_t{1}, int64_t{1000}, int64_t{1} << 40, INT64_MAX}) {
      const Duration cost = EstimateCost(op, elements);
      EXPECT_GE(cost, last);
      last = cost;
    }
    EXPECT_EQ(EstimateCost(op, 0).count(), 0);
  }
}

}  // namespace
}  // namespace shoal::plan
