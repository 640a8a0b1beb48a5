#include "server/plan/typing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::plan {
namespace {

using kernels::DType;
using kernels::FindOp;

ArrayType Of(DType dtype, std::vector<int64_t> extents) { return {dtype, *Shape::Create(extents)}; }

absl::StatusOr<ArrayType> OutputOf(const char* op, const std::vector<ArrayType>& inputs) {
  Call call;
  call.op = FindOp(op);
  const auto typed = TypeCall(call, inputs);
  if (!typed.ok()) return typed.status();
  EXPECT_EQ(typed->outputs.size(), 1U);
  EXPECT_EQ(typed->plan.steps.size(), 1U);
  return typed->outputs.front();
}

TEST(TypeCallTest, ElementwiseKeepsDTypeAndShape) {
  for (const char* op : {"axpy", "add", "multiply"}) {
    const ArrayType x = Of(DType::kInt16, {3, 0, 2});
    EXPECT_EQ(*OutputOf(op, {x, x}), x) << op;
  }
}

TEST(TypeCallTest, ShapesAreBroadcast) {
  const ArrayType x = Of(DType::kFloat64, {4, 5});
  for (const std::vector<int64_t>& other :
       {std::vector<int64_t>{}, {1}, {1, 1}, {5}, {4, 1}, {1, 5}}) {
    const ArrayType y = Of(DType::kFloat64, other);
    EXPECT_EQ(*OutputOf("add", {x, y}), x);
    EXPECT_EQ(*OutputOf("add", {y, x}), x);
  }
  EXPECT_EQ(*OutputOf("add", {Of(DType::kInt8, {5}), Of(DType::kInt8, {3, 1})}),
            Of(DType::kInt8, {3, 5}));
  EXPECT_EQ(*OutputOf("add", {Of(DType::kInt8, {5}), Of(DType::kInt8, {1, 1})}),
            Of(DType::kInt8, {1, 5}));
  // Broadcast over nothing there is nothing.
  const ArrayType empty = Of(DType::kFloat64, {0});
  EXPECT_EQ(*OutputOf("add", {empty, Of(DType::kFloat64, {1})}), empty);
}

TEST(TypeCallTest, ShapesThatDoNotFitAreRefused) {
  const ArrayType x = Of(DType::kInt32, {2, 3});
  const absl::Status status = OutputOf("add", {x, Of(DType::kInt32, {4})}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "add: shapes (2, 3) and (4,) do not fit each other");
  EXPECT_EQ(OutputOf("dot", {x, Of(DType::kInt32, {1})}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TypeCallTest, ReductionsGiveAScalarAndSumsWiden) {
  EXPECT_EQ(*OutputOf("sum", {Of(DType::kInt8, {7, 2})}), Of(DType::kInt64, {}));
  EXPECT_EQ(*OutputOf("sum", {Of(DType::kBool, {})}), Of(DType::kInt64, {}));
  EXPECT_EQ(*OutputOf("sum", {Of(DType::kUint8, {0})}), Of(DType::kUint64, {}));
  const ArrayType x = Of(DType::kInt8, {7});
  EXPECT_EQ(*OutputOf("dot", {x, x}), Of(DType::kInt8, {}));
}

TEST(TypeCallTest, MixedDTypesArePromoted) {
  EXPECT_EQ(*OutputOf("add", {Of(DType::kInt8, {1}), Of(DType::kUint8, {1})}),
            Of(DType::kInt16, {1}));
  EXPECT_EQ(*OutputOf("sqrt", {Of(DType::kInt32, {2})}), Of(DType::kFloat64, {2}));
  EXPECT_EQ(*OutputOf("less", {Of(DType::kInt8, {1}), Of(DType::kFloat16, {3})}),
            Of(DType::kBool, {3}));
}

TEST(TypeCallTest, RefusesScalarsInSortsAndUnbuiltDTypes) {
  EXPECT_EQ(OutputOf("sort", {Of(DType::kInt8, {})}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OutputOf("sort", {Of(DType::kComplex64, {1})}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(OutputOf("axpy", {Of(DType::kBool, {1}), Of(DType::kBool, {1})}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(TypeCallTest, EchoGivesBackEachInputWhateverItIs) {
  const std::vector<ArrayType> inputs = {Of(DType::kBool, {}), Of(DType::kComplex128, {0, 3})};
  Call echo;
  echo.op = FindOp("echo");
  const auto typed = TypeCall(echo, inputs);
  ASSERT_TRUE(typed.ok());
  EXPECT_EQ(std::vector<ArrayType>(typed->outputs.begin(), typed->outputs.end()), inputs);
  EXPECT_TRUE(typed->plan.steps.empty());
  EXPECT_TRUE(TypeCall(echo, {})->outputs.empty());
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
