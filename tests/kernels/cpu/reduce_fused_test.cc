#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cpu/reduce.h"
#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

namespace shoal::kernels::cpu {
namespace {

constexpr int64_t kCount = 300'007;

/// What a kernel gives, folded: as if its output had been an array.
ReducePartial Materialised(const OpInfo& op, support::OneKernel made, int64_t begin, int64_t end) {
  const DType dtype = made.kernel.OutputDType(0);
  Bytes out(static_cast<size_t>(made.count * ItemBytes(dtype)));
  made.outputs = {out.data()};
  RunMap(made.kernel, made.args(), {0, made.count});
  return ReduceRange(op, {dtype,
                          {out.data() + begin * ItemBytes(dtype), nullptr},
                          made.first_index + begin,
                          end - begin});
}

TEST(ReduceFusedTest, AnyCutGivesTheBitsOfTheArrayThatTheKernelMakes) {
  const OpInfo& sum = *FindOp("sum");
  std::mt19937_64 random(1);
  for (const DType dtype : kAllDTypes) {
    const Bytes x = RandomArray(dtype, kCount, Fill::kFinite, 1);
    const Bytes y = RandomArray(dtype, kCount, Fill::kFinite, 2);
    support::OneKernel product =
        support::OneOp({*FindOp("multiply"), dtype}, {x.data(), y.data()}, {nullptr, kCount});
    product.outputs.clear();
    for (const int64_t first_index : {int64_t{0}, int64_t{4096}, int64_t{1'000'003}}) {
      product.first_index = first_index;
      const ReducePartial whole = Materialised(sum, product, 0, kCount);
      EXPECT_TRUE(ReduceRange(sum, product.kernel, product.args(), {0, kCount}) == whole);
      const auto cut = static_cast<int64_t>(random() % kCount);
      ReducePartial left = ReduceRange(sum, product.kernel, product.args(), {0, cut});
      ReducePartial right = ReduceRange(sum, product.kernel, product.args(), {cut, kCount});
      EXPECT_TRUE(Join(std::move(left), std::move(right)) == whole) << Name(dtype) << " " << cut;
    }
  }
}

/// x * y and x + row, the terms of a dot product, of these three arrays; `row` is broadcast.
support::OneKernel TwoTerms(DType dtype, const std::array<Bytes, 3>& arrays,
                            std::span<const BroadcastAxis> axes) {
  support::OneKernel one;
  one.kernel.inputs = {dtype, dtype, dtype};
  for (const char* op : {"multiply", "add"}) {
    const auto other = static_cast<int16_t>(one.kernel.steps.size() + 1);
    one.kernel.steps.push_back(
        {.op = FindOp(op), .dtype = dtype, .result = dtype, .operands = {0, other, 0}});
  }
  one.kernel.outputs = {one.kernel.StepValue(0), one.kernel.StepValue(1)};
  for (const Bytes& array : arrays) {
    one.inputs.push_back({.data = array.data(), .axes = {}, .single = false});
  }
  one.inputs.back().axes = axes;
  one.count = kCount;
  return one;
}

// Any number of pieces, joined from the left or from the right.
TEST(ReduceFusedTest, BothTermsOfADotProductMayBeMadeAndTheirInputsBroadcast) {
  const OpInfo& dot = *FindOp("dot");
  const std::vector<BroadcastAxis> axes = {{kCount, 0}, {700, 1}, {3, 0}};
  std::mt19937_64 random(2);
  for (const DType dtype : kAllDTypes) {
    const std::array<Bytes, 3> arrays = {RandomArray(dtype, kCount, Fill::kAwkward, 1),
                                         RandomArray(dtype, kCount, Fill::kFinite, 2),
                                         RandomArray(dtype, 700, Fill::kFinite, 3)};
    support::OneKernel terms = TwoTerms(dtype, arrays, axes);
    terms.first_index = 5000;
    std::array<Bytes, 2> made = {Bytes(arrays[0].size()), Bytes(arrays[0].size())};
    terms.outputs = {made[0].data(), made[1].data()};
    RunMap(terms.kernel, terms.args(), {0, kCount});
    terms.outputs.clear();
    const ReducePartial whole =
        ReduceRange(dot, {dtype, {made[0].data(), made[1].data()}, 5000, kCount});
    std::vector<int64_t> cuts = {0, kCount};
    for (int i = 0; i < 6; ++i) cuts.push_back(static_cast<int64_t>(random() % kCount));
    std::ranges::sort(cuts);
    std::vector<ReducePartial> parts;
    for (size_t i = 1; i < cuts.size(); ++i) {
      parts.push_back(ReduceRange(dot, terms.kernel, terms.args(), {cuts[i - 1], cuts[i]}));
    }
    ReducePartial from_left = parts.front();
    for (size_t i = 1; i < parts.size(); ++i) from_left = Join(std::move(from_left), parts[i]);
    EXPECT_TRUE(from_left == whole) << Name(dtype);
    ReducePartial from_right = parts.back();
    for (size_t i = parts.size() - 1; i-- > 0;) from_right = Join(parts[i], std::move(from_right));
    EXPECT_TRUE(from_right == whole) << Name(dtype);
  }
}

TEST(ReduceFusedTest, PlainInputsAreReadWhereTheyLie) {
  const OpInfo& dot = *FindOp("dot");
  const Bytes x = RandomArray(DType::kFloat64, kCount, Fill::kFinite, 1);
  support::OneKernel square;
  square.kernel = IdentityKernel(DType::kFloat64);
  square.kernel.outputs.push_back(0);
  square.inputs = {{.data = x.data(), .axes = {}, .single = false}};
  square.count = kCount;
  const ReducePartial direct = ReduceRange(dot, {DType::kFloat64, {x.data(), x.data()}, 0, kCount});
  EXPECT_TRUE(ReduceRange(dot, square.kernel, square.args(), {0, kCount}) == direct);
}

TEST(ReduceFusedTest, OneElementIsFoldedAsOftenAsItStands) {
  const OpInfo& sum = *FindOp("sum");
  const double x = 0.1;
  support::OneKernel same;
  same.kernel = IdentityKernel(DType::kFloat64);
  same.inputs = {{.data = &x, .axes = {}, .single = true}};
  same.count = 100'000;
  const std::vector<double> spread(100'000, x);
  const ReducePartial direct =
      ReduceRange(sum, {DType::kFloat64, {spread.data(), nullptr}, 0, 100'000});
  EXPECT_TRUE(ReduceRange(sum, same.kernel, same.args(), {0, 100'000}) == direct);
}

TEST(ReduceFusedTest, NothingIsNothing) {
  const OpInfo& sum = *FindOp("sum");
  support::OneKernel empty =
      support::OneOp({*FindOp("add"), DType::kFloat32}, {nullptr, nullptr}, {nullptr, 0});
  empty.outputs.clear();
  const ReducePartial partial = ReduceRange(sum, empty.kernel, empty.args(), {0, 0});
  EXPECT_EQ(partial.begin, partial.end);
}

}  // namespace
}  // namespace shoal::kernels::cpu
