#include "kernels/cpu/cast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
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

/// The integer, whole where float64 holds it, else rounded to odd: what is narrower and made of it
/// is rounded once.
double ToOdd(DType dtype, uint64_t value) {
  const bool negative = IsSigned(dtype) && static_cast<int64_t>(value) < 0;
  const auto magnitude = static_cast<long double>(negative ? uint64_t{0} - value : value);
  auto near = static_cast<double>(magnitude);
  if (magnitude != near && (std::bit_cast<uint64_t>(near) & 1) == 0) {
    near = std::nextafter(near, magnitude > near ? kInf : 0.0);
  }
  return negative ? -near : near;
}

/// What a float becomes as an integer.
uint64_t Nearest(DType to, double x) {
  const int bits = static_cast<int>(8 * ItemBytes(to)) - (IsSigned(to) ? 1 : 0);
  const double least = IsSigned(to) ? -std::ldexp(1.0, bits) : 0.0;
  if (std::isnan(x)) return 0;
  if (x >= std::ldexp(1.0, bits)) return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  if (x <= least) return IsSigned(to) ? ~uint64_t{0} << bits : 0;
  const double whole = std::trunc(x);
  return whole < 0 ? uint64_t{0} - static_cast<uint64_t>(-whole) : static_cast<uint64_t>(whole);
}

/// One real number.
void ConvertReal(DType from, DType to, const std::byte* x, std::byte* out) {
  if (!IsFloat(from)) {
    const uint64_t value = LoadInteger(from, x);
    if (!IsFloat(to)) return StoreInteger(to, out, value);
    const bool is_signed = IsSigned(from);
    if (to == DType::kFloat64) {
      return StoreFloat(to, out,
                        is_signed ? static_cast<double>(static_cast<int64_t>(value))
                                  : static_cast<double>(value));
    }
    return StoreFloat(to, out, ToOdd(from, value));
  }
  const double value = LoadFloat(from, x);
  if (IsFloat(to)) return StoreFloat(to, out, value);
  StoreInteger(to, out, to == DType::kBool ? uint64_t{value != 0} : Nearest(to, value));
}

/// One element, as CastLoop describes it.
void ConvertOne(DType from, DType to, const std::byte* x, std::byte* out) {
  const DType from_part = PartOf(from);
  const DType to_part = PartOf(to);
  const std::byte* const imaginary = x + ItemBytes(from_part);
  if (IsComplex(from) && to == DType::kBool) {
    const bool is_true = LoadFloat(from_part, x) != 0 || LoadFloat(from_part, imaginary) != 0;
    return StoreInteger(to, out, uint64_t{is_true});
  }
  ConvertReal(from_part, to_part, x, out);
  if (!IsComplex(to)) return;
  std::byte* const out_imaginary = out + ItemBytes(to_part);
  if (IsComplex(from)) return ConvertReal(from_part, to_part, imaginary, out_imaginary);
  StoreFloat(to_part, out_imaginary, 0.0);
}

/// A number close to a power of two, of either sign; of integers also half a unit more or less
/// than what halves of that size have.
void StoreNear(DType dtype, std::byte* at, int power, double offset) {
  if (IsFloat(PartOf(dtype))) {
    return StoreFloat(PartOf(dtype), at, std::ldexp(1.0, power) + offset);
  }
  const uint64_t tie = (uint64_t{1} << power) | (uint64_t{1} << power >> 9);
  StoreInteger(dtype, at, tie + static_cast<uint64_t>(static_cast<int64_t>(offset)));
}

void Negate(DType dtype, std::byte* at) {
  if (IsFloat(PartOf(dtype))) {
    return StoreFloat(PartOf(dtype), at, -LoadFloat(PartOf(dtype), at));
  }
  StoreInteger(dtype, at, uint64_t{0} - LoadInteger(dtype, at));
}

/// Awkward numbers, and those around each power of two.
Bytes NumbersToConvert(DType dtype) {
  Bytes numbers = RandomArray(dtype, 2000, Fill::kAwkward, 5);
  std::byte* at = numbers.data();
  for (int power = 0; power < 64; ++power) {
    for (const double offset : {-1.0, -0.5, -0x1p-11, -0x1p-30, 0.0, 0x1p-30, 0x1p-11, 0.5, 1.0}) {
      StoreNear(dtype, at, power, offset);
      StoreNear(dtype, at + ItemBytes(dtype), power, offset);
      Negate(dtype, at);
      at += 2 * ItemBytes(dtype);
    }
  }
  return numbers;
}

void ExpectConversion(DType from, DType to, const std::string& instruction_set) {
  const Bytes x = NumbersToConvert(from);
  const auto count = static_cast<int64_t>(x.size()) / ItemBytes(from);
  Bytes out(static_cast<size_t>(count * ItemBytes(to)));
  support::OneKernel one;
  one.kernel = Conversion(from, to);
  one.inputs = {{.data = x.data(), .axes = {}, .single = false}};
  one.outputs = {out.data()};
  for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
    std::ranges::fill(out, std::byte{0x5a});
    RunMap(one.kernel, one.args(), {0, count}, stores);
    for (int64_t i = 0; i < count; ++i) {
      std::array<std::byte, 16> expected = {};
      ConvertOne(from, to, x.data() + i * ItemBytes(from), expected.data());
      const std::byte* const seen = out.data() + i * ItemBytes(to);
      ASSERT_EQ(std::memcmp(seen, expected.data(), static_cast<size_t>(ItemBytes(to))), 0)
          << Name(from) << " to " << Name(to) << ", element " << i << ", " << instruction_set;
    }
  }
}

TEST(CastTest, EveryPairOfDTypesIsAsDescribedOnEveryInstructionSet) {
  ForEachInstructionSet([](const std::string& name) {
    for (const DType from : kAllDTypes) {
      for (const DType to : kAllDTypes) ExpectConversion(from, to, name);
    }
  });
}

}  // namespace
}  // namespace shoal::kernels::cpu
