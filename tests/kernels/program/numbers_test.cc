#include "kernels/program/numbers.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace shoal::kernels::program {
namespace {

Value Int(int64_t number) { return GraphBuilder::Number(number, WeakKind::kInt); }
Value Float(double number) { return GraphBuilder::Number(number, WeakKind::kFloat); }

std::optional<Value> Fold(const char* op, std::vector<Value> operands) {
  return FoldNumbers(*FindOp(op), operands);
}

TEST(FoldNumbersTest, WholeNumbersStayWholeWhereTheyFit) {
  EXPECT_EQ(Fold("negative", {Int(200)})->number, Scalar(int64_t{-200}));
  EXPECT_EQ(Fold("multiply", {Int(1 << 20), Int(-4)})->number, Scalar(int64_t{-4 << 20}));
  EXPECT_EQ(Fold("add", {Int(INT64_MAX), Int(1)})->number, Scalar(uint64_t{1} << 63));
  EXPECT_FALSE(Fold("multiply", {Int(INT64_MAX), Int(4)}).has_value());
  EXPECT_FALSE(Fold("subtract", {Int(INT64_MIN), Int(1)}).has_value());
}

TEST(FoldNumbersTest, WholePowersThatFit) {
  EXPECT_EQ(Fold("power", {Int(-2), Int(63)})->number, Scalar(INT64_MIN));
  EXPECT_EQ(Fold("power", {Int(10), Int(0)})->number, Scalar(int64_t{1}));
  EXPECT_EQ(Fold("power", {Int(-1), Int(INT64_MAX)})->number, Scalar(int64_t{-1}));
  EXPECT_EQ(Fold("power", {Int(0), Int(0)})->number, Scalar(int64_t{1}));
  EXPECT_FALSE(Fold("power", {Int(2), Int(64)}).has_value());
  EXPECT_FALSE(Fold("power", {Int(2), Int(-1)}).has_value());
}

TEST(FoldNumbersTest, FloatsAndQuotients) {
  EXPECT_EQ(Fold("divide", {Int(1), Int(3)})->number, Scalar(1.0 / 3));
  EXPECT_EQ(Fold("add", {Int(1), Float(0.5)})->number, Scalar(1.5));
  EXPECT_EQ(Fold("add", {Int(1), Float(0.5)})->weak, WeakKind::kFloat);
}

TEST(FoldNumbersTest, AllElseIsLeftToTheProgram) {
  EXPECT_FALSE(Fold("sqrt", {Float(2)}).has_value());
  EXPECT_FALSE(Fold("add", {Value{.node = 3, .number = {}, .weak = {}}, Int(1)}).has_value());
  EXPECT_FALSE(Fold("less", {Int(1), Int(2)}).has_value());
}

TEST(FoldNumbersTest, TrueIsOneWhereItIsComputedWith) {
  const Value yes = GraphBuilder::Number(int64_t{1}, WeakKind::kBool);
  EXPECT_EQ(Fold("negative", {yes})->number, Scalar(int64_t{-1}));
  EXPECT_EQ(Fold("add", {yes, yes})->number, Scalar(int64_t{2}));
  EXPECT_EQ(Fold("add", {yes, yes})->weak, WeakKind::kInt);
}

}  // namespace
}  // namespace shoal::kernels::program
