#include <gtest/gtest.h>

#include <random>
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
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8, DType::kComplex128}) {
    const Bytes x = RandomArray(dtype, kCount, Fill::kFinite, 1);
    const Bytes y = RandomArray(dtype, kCount, Fill::kFinite, 2);
    support::OneKernel product =
        support::OneOp(*FindOp("multiply"), dtype, {x.data(), y.data()}, nullptr, kCount);
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
      support::OneOp(*FindOp("add"), DType::kFloat32, {nullptr, nullptr}, nullptr, 0);
  empty.outputs.clear();
  const ReducePartial partial = ReduceRange(sum, empty.kernel, empty.args(), {0, 0});
  EXPECT_EQ(partial.begin, partial.end);
}

}  // namespace
}  // namespace shoal::kernels::cpu
