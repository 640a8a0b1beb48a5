// Reductions over axes, of arrays that lie anywhere.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "kernels/language/parser.h"
#include "tests/server/runtime/calls.h"

namespace shoal::runtime {
namespace {

using kernels::DType;

/// A program of one step over two arrays, of which the second is broadcast.
class FoldStageTest : public ::testing::TestWithParam<int> {
 protected:
  void SetCase(uint64_t seed) {
    random_.seed(seed);
    constexpr DType kDTypes[] = {DType::kBool, DType::kInt16, DType::kFloat16, DType::kFloat32,
                                 DType::kFloat64};
    const std::vector<std::vector<int64_t>> shapes = {
        {5, 3}, {1, 40}, {40, 1}, {0, 4},    {4, 0},   {7, 5, 3}, {100, 3},
        {3, 1}, {2, 2},  {13, 9}, {1, 6, 4}, {500, 2}, {4, 2500}, {33, 1100}};
    const DType dtype = kDTypes[random_() % std::size(kDTypes)];
    const std::vector<int64_t>& shape = shapes[random_() % shapes.size()];
    x_ = {dtype, *plan::Shape::Create(shape)};
    row_ = support::Type(dtype, {shape.back()});
    axis_ = random_() % shape.size();
    const char* const ops[] = {"sum", "prod", "min", "max"};
    const char* op = shape[axis_] == 0 ? "sum" : ops[random_() % std::size(ops)];
    text_ = random_() % 2 == 0 ? absl::StrCat(op, "(x, axis=", axis_, ") + 0 * sum(row)")
                               : absl::StrCat(op, "(x * row, axis=", axis_,
                                              random_() % 2 == 0 ? ")" : ", keepdims=True)");
    x_bytes_ = Elements(x_);
    row_bytes_ = Elements(row_);
  }

  std::string Elements(const plan::ArrayType& type) {
    std::string bytes =
        support::RandomBytes(static_cast<size_t>(support::ByteCount(type)), random_());
    if (type.dtype != DType::kBool) return bytes;
    for (char& byte : bytes) byte &= 1;
    return bytes;
  }

  Place AnyPlace() { return kAllPlaces[random_() % std::size(kAllPlaces)]; }

  std::string ResultOf(Calls& calls, Place x, Place row, Place to) {
    auto program = std::make_shared<plan::ProgramCall>();
    program->syntax = *kernels::language::Parse(text_);
    plan::Call call;
    call.program = std::move(program);
    call.arguments = {calls.Argument(x_, x_bytes_, x), calls.Argument(row_, row_bytes_, row)};
    call.arguments[0].name = "x";
    call.arguments[1].name = "row";
    if (to != Place::kRequest && to != Place::kLease) {
      plan::StoreAs store;
      store.has_distribution = random_() % 2 == 0;
      store.distribution = LayoutOf(to, *engine_->workers);
      call.destinations.emplace_back(store);
    }
    const auto result = calls.Run(std::move(call));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? Calls::BytesOf(result->outputs[0].data) : "";
  }

  support::TestEngine engine_{
      {.workers = GetParam(), .worker_bytes = 16 * kMiB, .front_bytes = 32 * kMiB}};
  support::TestEngine alone_{{.workers = 1, .worker_bytes = 16 * kMiB, .front_bytes = 32 * kMiB}};
  std::mt19937_64 random_;
  plan::ArrayType x_;
  plan::ArrayType row_;
  size_t axis_ = 0;
  std::string text_;
  std::string x_bytes_;
  std::string row_bytes_;
};

TEST_P(FoldStageTest, EveryLayoutGivesTheBitsOfOnePiece) {
  Calls calls(engine_.get());
  Calls whole(alone_.get());
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SetCase(seed);
    const Place x = AnyPlace();
    const Place row = AnyPlace();
    const std::string seen = ResultOf(calls, x, row, AnyPlace());
    EXPECT_EQ(seen, ResultOf(whole, Place::kRequest, Place::kRequest, Place::kRequest))
        << "seed " << seed << ", " << text_ << " of " << x_.shape.ToString() << " "
        << std::string(Name(x_.dtype)) << " in place " << static_cast<int>(x);
    if (HasFailure()) return;
    calls.Clear();
    ASSERT_EQ(engine_.BytesInUse(), 0);
  }
}

// The axis that is not cut: the sum of a block is that of the block alone.
TEST_P(FoldStageTest, ARowsSumIsTheSumOfThatRow) {
  Calls calls(engine_.get());
  SetCase(1);
  x_ = support::Type(DType::kFloat32, {7, 9000});
  row_ = support::Type(DType::kFloat32, {9000});
  std::vector<float> numbers(7 * 9000);
  for (float& number : numbers) number = std::uniform_real_distribution<float>(-1, 1)(random_);
  x_bytes_ = support::ToBytes(numbers);
  row_bytes_ = x_bytes_.substr(0, 9000 * 4);
  text_ = "sum(x * (row == row), axis=1)";
  const auto sums =
      support::FromBytes<float>(ResultOf(calls, Place::kBlock, Place::kSingle, Place::kBlock));
  ASSERT_EQ(sums.size(), 7U);
  for (size_t i = 0; i < sums.size(); ++i) {
    plan::Call call = Calls::Make(
        "sum", {calls.Argument(row_, x_bytes_.substr(i * 36'000, 36'000), Place::kRequest)});
    const auto alone = calls.Run(std::move(call));
    EXPECT_EQ(support::FromBytes<float>(Calls::BytesOf(alone->outputs[0].data))[0], sums[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, FoldStageTest, ::testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace shoal::runtime
