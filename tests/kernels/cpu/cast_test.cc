#include "kernels/cpu/cast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

MapKernel Conversion(DType from, DType to) {
  MapKernel kernel;
  kernel.inputs = {from};
  kernel.steps.push_back({.op = nullptr, .dtype = from, .result = to});
  kernel.outputs.push_back(kernel.StepValue(0));
  return kernel;
}

template <class From, class To>
std::vector<To> Convert(DType from, DType to, const std::vector<From>& x) {
  std::vector<To> out(x.size());
  support::OneKernel one;
  one.kernel = Conversion(from, to);
  one.inputs = {{.data = x.data(), .axes = {}, .single = false}};
  one.outputs = {out.data()};
  RunMap(one.kernel, one.args(), {0, static_cast<int64_t>(x.size())});
  return out;
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(CastTest, FloatsOutsideOfAnIntegersRangeBecomeItsLimitsAndNaNZero) {
  const std::vector<double> x = {0.0, -0.9, 2.9, -2.9, 127.5, 128, 1e10, -1e30, kInf, -kInf, kNan};
  EXPECT_EQ((Convert<double, int8_t>(DType::kFloat64, DType::kInt8, x)),
            (std::vector<int8_t>{0, 0, 2, -2, 127, 127, 127, -128, 127, -128, 0}));
  EXPECT_EQ((Convert<double, uint16_t>(DType::kFloat64, DType::kUint16, x)),
            (std::vector<uint16_t>{0, 0, 2, 0, 127, 128, 65535, 0, 65535, 0, 0}));
  const std::vector<float> limits = {0x1p63F, 0x1.fffffep62F, -0x1p63F, 0x1p64F, 0x1.fffffep63F};
  EXPECT_EQ((Convert<float, int64_t>(DType::kFloat32, DType::kInt64, limits)),
            (std::vector<int64_t>{INT64_MAX, 0x7fffff8000000000, INT64_MIN, INT64_MAX, INT64_MAX}));
  EXPECT_EQ((Convert<float, uint64_t>(DType::kFloat32, DType::kUint64, limits)),
            (std::vector<uint64_t>{uint64_t{1} << 63, 0x7fffff8000000000, 0, UINT64_MAX,
                                   0xffffff0000000000}));
}

TEST(CastTest, IntegersWrapAndNumbersAreTrueUnlessZero) {
  const std::vector<int32_t> x = {0, -1, 300, INT32_MIN, 65536};
  EXPECT_EQ((Convert<int32_t, int8_t>(DType::kInt32, DType::kInt8, x)),
            (std::vector<int8_t>{0, -1, 44, 0, 0}));
  EXPECT_EQ((Convert<int32_t, uint64_t>(DType::kInt32, DType::kUint64, x)),
            (std::vector<uint64_t>{0, UINT64_MAX, 300, 0xffffffff80000000, 65536}));
  EXPECT_EQ((Convert<int32_t, uint8_t>(DType::kInt32, DType::kBool, x)),
            (std::vector<uint8_t>{0, 1, 1, 1, 1}));
  EXPECT_EQ((Convert<double, uint8_t>(DType::kFloat64, DType::kBool, {0.0, -0.0, kNan, 1e-320})),
            (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ((Convert<uint8_t, double>(DType::kBool, DType::kFloat64, {0, 1, 7})),
            (std::vector<double>{0, 1, 1}));
}

TEST(CastTest, HalvesAreRoundedOnce) {
  // Just above a tie of float16, which float32 would round to the tie.
  const std::vector<double> above = {1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)};
  EXPECT_EQ((Convert<double, uint16_t>(DType::kFloat64, DType::kFloat16, above))[0], 0x3c01);
  // Just above a tie of bfloat16, and further from it than float64 can say.
  const std::vector<int64_t> large = {(int64_t{1} << 62) + (int64_t{1} << 54) + 1};
  EXPECT_EQ((Convert<int64_t, uint16_t>(DType::kInt64, DType::kBfloat16, large))[0],
            FloatToBfloat16(0x1p62F) + 1);
  const std::vector<int64_t> tie = {(int64_t{1} << 62) + (int64_t{1} << 54)};
  EXPECT_EQ((Convert<int64_t, uint16_t>(DType::kInt64, DType::kBfloat16, tie))[0],
            FloatToBfloat16(0x1p62F));
  const std::vector<int32_t> whole = {1, -3, 2049, 70'000};
  const auto halves = Convert<int32_t, uint16_t>(DType::kInt32, DType::kFloat16, whole);
  EXPECT_EQ(Float16ToFloat(halves[1]), -3.0F);
  EXPECT_EQ(Float16ToFloat(halves[2]), 2048.0F);
  EXPECT_TRUE(std::isinf(Float16ToFloat(halves[3])));
}

TEST(CastTest, ComplexNumbersLoseAndGainTheirImaginaryPart) {
  using C = Complex<float>;
  const std::vector<C> x = {{1.5F, 2}, {0, 3}, {0, 0}};
  EXPECT_EQ((Convert<C, double>(DType::kComplex64, DType::kFloat64, x)),
            (std::vector<double>{1.5, 0, 0}));
  EXPECT_EQ((Convert<C, uint8_t>(DType::kComplex64, DType::kBool, x)),
            (std::vector<uint8_t>{1, 1, 0}));
  const auto wide = Convert<int8_t, Complex<double>>(DType::kInt8, DType::kComplex128, {-3});
  EXPECT_EQ(wide[0].re, -3.0);
  EXPECT_EQ(wide[0].im, 0.0);
}

/// Through the dtype that holds both exactly, one by one, in plain C++.
TEST(CastTest, EveryPairOfPlainDTypesConvertsAsCppDoesInRange) {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) {
      ForDType(from, [&]<DType kFrom>() {
        ForDType(to, [&]<DType kTo>() {
          using F = Element<kFrom>;
          using T = Element<kTo>;
          if constexpr (std::is_arithmetic_v<F> && std::is_arithmetic_v<T> && !IsHalf(kFrom) &&
                        !IsHalf(kTo)) {
            std::vector<F> x;
            for (int i = 0; i < 100; ++i) x.push_back(static_cast<F>(i));
            const std::vector<T> out = Convert<F, T>(from, to, x);
            for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(out[i], static_cast<T>(x[i]));
          }
        });
      });
    }
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
