#include "kernels/program/builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::kernels::program {
namespace {

ArrayType Of(DType dtype, const std::vector<int64_t>& extents) {
  return {dtype, *Shape::Create(extents)};
}

class BuilderTest : public ::testing::Test {
 protected:
  absl::StatusOr<Value> Apply(const char* op, const std::vector<Value>& operands) {
    return builder_.Apply(*FindOp(op), operands);
  }
  static Value Int(int64_t number) { return GraphBuilder::Number(number, WeakKind::kInt); }
  static Value Float(double number) { return GraphBuilder::Number(number, WeakKind::kFloat); }

  GraphBuilder builder_;
};

TEST_F(BuilderTest, OperandsMeetInTheirCommonDTypeAndShape) {
  const Value x = builder_.Input(Of(DType::kInt8, {3, 1}));
  const Value y = builder_.Input(Of(DType::kUint8, {4}));
  const Value sum = *Apply("add", {x, y});
  EXPECT_EQ(builder_.TypeOf(sum), Of(DType::kInt16, {3, 4}));
  const Value less = *Apply("less", {sum, x});
  EXPECT_EQ(builder_.TypeOf(less), Of(DType::kBool, {3, 4}));
  const Value chosen = *Apply("where", {less, x, y});
  EXPECT_EQ(builder_.TypeOf(chosen), Of(DType::kInt16, {3, 4}));
}

TEST_F(BuilderTest, NumbersTakeTheDTypeOfTheArray) {
  const Value x = builder_.Input(Of(DType::kInt8, {2}));
  EXPECT_EQ(builder_.TypeOf(*Apply("add", {x, Int(100)})).dtype, DType::kInt8);
  EXPECT_EQ(builder_.TypeOf(*Apply("add", {x, Float(0.5)})).dtype, DType::kFloat64);
  const absl::Status status = Apply("add", {x, Int(200)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "the number 200 is not a value of int8");
}

TEST_F(BuilderTest, WhatIsMadeOfNumbersIsANumberStill) {
  const Value third = *Apply("divide", {Int(1), Int(3)});
  EXPECT_EQ(third.weak, WeakKind::kFloat);
  const Value x = builder_.Input(Of(DType::kFloat32, {2}));
  EXPECT_EQ(builder_.TypeOf(*Apply("multiply", {x, third})).dtype, DType::kFloat32);
  EXPECT_EQ(Apply("less", {Int(1), Int(3)})->weak, WeakKind::kBool);
}

TEST_F(BuilderTest, ACommonSubexpressionIsOneNode) {
  const Value x = builder_.Input(Of(DType::kFloat32, {2}));
  EXPECT_EQ(Apply("multiply", {x, x})->node, Apply("multiply", {x, x})->node);
  EXPECT_EQ(Apply("add", {x, Float(0.5)})->node, Apply("add", {x, Float(0.5)})->node);
  EXPECT_NE(Apply("add", {x, Float(0.0)})->node, Apply("add", {x, Float(-0.0)})->node);
}

TEST_F(BuilderTest, ReductionsTakeAllElements) {
  const Value x = builder_.Input(Of(DType::kInt8, {3, 4}));
  EXPECT_EQ(builder_.TypeOf(*Apply("sum", {x})), Of(DType::kInt64, {}));
  const Value y = builder_.Input(Of(DType::kInt8, {4}));
  EXPECT_EQ(Apply("dot", {x, y}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(BuilderTest, ASumOfProductsOfArgumentsIsTheirDotProduct) {
  const auto op_of = [this](const char* op, const Value& x, const Value& y) {
    const Value term = *Apply(op, op == std::string("square") ? std::vector{x} : std::vector{x, y});
    const Value sum = *Apply("sum", {term});
    return std::string(builder_.OpOf(sum)->name);
  };
  const Value x = builder_.Input(Of(DType::kFloat32, {3, 4}));
  const Value y = builder_.Input(Of(DType::kFloat32, {3, 4}));
  const Value row = builder_.Input(Of(DType::kFloat32, {4}));
  const Value small = builder_.Input(Of(DType::kInt32, {4}));
  const Value half = builder_.Input(Of(DType::kFloat16, {4}));
  EXPECT_EQ(op_of("multiply", x, y), "dot");
  EXPECT_EQ(op_of("square", x, x), "dot");
  EXPECT_EQ(op_of("add", x, y), "sum");
  EXPECT_EQ(op_of("multiply", x, row), "sum");
  EXPECT_EQ(op_of("multiply", small, small), "sum");
  EXPECT_EQ(op_of("square", half, half), "sum");
}

TEST_F(BuilderTest, RefusesWhatDoesNotFit) {
  const Value x = builder_.Input(Of(DType::kFloat32, {3}));
  const Value y = builder_.Input(Of(DType::kFloat32, {4}));
  EXPECT_EQ(Apply("add", {x, y}).status().message(), "shapes (3,) and (4,) do not fit each other");
  EXPECT_EQ(Apply("add", {x}).status().message(), "'+' takes 2 operands, not 1");
  EXPECT_EQ(Apply("invert", {x}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Apply("echo", {x}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Apply("sort", {Int(3)}).status().message(), "sort: a number has no axis");
}

TEST_F(BuilderTest, ItStopsGrowingAtTheLimit) {
  GraphBuilder small({.nodes = 10});
  Value x = small.Input(Of(DType::kFloat32, {3}));
  absl::Status status;
  for (int i = 0; i < 20 && status.ok(); ++i) {
    absl::StatusOr<Value> next = small.Apply(*FindOp("sqrt"), {x});
    status = next.status();
    if (status.ok()) x = *next;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(BuilderTest, DescribesValuesForMessages) {
  EXPECT_EQ(builder_.Describe(builder_.Input(Of(DType::kFloat32, {3, 4}))), "float32 (3, 4)");
  EXPECT_EQ(builder_.Describe(Int(7)), "the number 7");
}

}  // namespace
}  // namespace shoal::kernels::program
