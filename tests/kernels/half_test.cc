#include "kernels/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace shoal::kernels {
namespace {

struct Format {
  int fraction_bits;
  int exponent_bits;
};
constexpr Format kFloat16 = {10, 5};
constexpr Format kBfloat16 = {7, 8};

/// The number a pattern stands for, from the definition of the format.
double ValueOf(Format format, uint16_t bits) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = bits >> format.fraction_bits & ((1 << format.exponent_bits) - 1);
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const int significand = exponent == 0 ? fraction : fraction + (1 << format.fraction_bits);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - format.fraction_bits);
}

uint16_t InfinityOf(Format format) {
  return static_cast<uint16_t>(0x7fff & ~((1 << format.fraction_bits) - 1));
}

/// The pattern of the number nearest to `value` >= 0, ties to even, found by bisection over the
/// patterns, whose order is that of their values.
uint16_t NearestOf(Format format, double value) {
  const uint16_t infinity = InfinityOf(format);
  uint16_t low = 0;
  uint16_t high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<uint16_t>((low + high) / 2);
    (ValueOf(format, middle) <= value ? low : high) = middle;
  }
  if (std::isinf(value)) return infinity;
  // Infinity rounds as if it were the next number of an unbounded exponent range.
  const double step = ValueOf(format, low) - ValueOf(format, static_cast<uint16_t>(low - 1));
  const double above = high == infinity ? ValueOf(format, low) + step : ValueOf(format, high);
  const double to_low = value - ValueOf(format, low);
  const double to_high = above - value;
  if (to_low != to_high) return to_low < to_high ? low : high;
  return low % 2 == 0 ? low : high;
}

void ExpectRounds(double value) {
  ASSERT_EQ(DoubleToFloat16(value), NearestOf(kFloat16, value)) << value;
  ASSERT_EQ(DoubleToBfloat16(value), NearestOf(kBfloat16, value)) << value;
  ASSERT_EQ(DoubleToFloat16(-value), NearestOf(kFloat16, value) | 0x8000) << value;
  ASSERT_EQ(DoubleToBfloat16(-value), NearestOf(kBfloat16, value) | 0x8000) << value;
  const auto single = static_cast<float>(value);
  if (std::isinf(single) && !std::isinf(value)) return;
  ASSERT_EQ(FloatToFloat16(single), NearestOf(kFloat16, double{single})) << value;
  ASSERT_EQ(FloatToBfloat16(single), NearestOf(kBfloat16, double{single})) << value;
}

TEST(HalfTest, EveryPatternWidensToItsValue) {
  for (uint32_t i = 0; i < 65'536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    for (const auto& [format, widened] :
         {std::pair{kFloat16, Float16ToFloat(bits)}, std::pair{kBfloat16, Bfloat16ToFloat(bits)}}) {
      const double value = ValueOf(format, bits);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(widened)) << bits;
      } else {
        ASSERT_EQ(double{widened}, value) << bits;
        ASSERT_EQ(std::signbit(widened), (bits & 0x8000) != 0) << bits;
      }
    }
  }
}

TEST(HalfTest, EveryPatternSurvivesThereAndBackExceptThatNansBecomeQuiet) {
  for (uint32_t i = 0; i < 65'536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const bool nan16 = std::isnan(ValueOf(kFloat16, bits));
    ASSERT_EQ(FloatToFloat16(Float16ToFloat(bits)), nan16 ? bits | 0x200 : bits);
    const bool nan_b16 = std::isnan(ValueOf(kBfloat16, bits));
    ASSERT_EQ(FloatToBfloat16(Bfloat16ToFloat(bits)), nan_b16 ? bits | 0x40 : bits);
  }
}

// Every midpoint between neighbours, and the numbers just beside it, in float32 and in float64.
TEST(HalfTest, HalfwayCasesGoToEvenAndTheirNeighboursToTheNearest) {
  for (const Format format : {kFloat16, kBfloat16}) {
    for (uint16_t bits = 0; bits + 1 < InfinityOf(format); ++bits) {
      const double low = ValueOf(format, bits);
      const double high = ValueOf(format, static_cast<uint16_t>(bits + 1));
      const double middle = (low + high) / 2;
      ExpectRounds(middle);
      ExpectRounds(std::nextafter(middle, low));
      ExpectRounds(std::nextafter(middle, high));
      ExpectRounds(double{std::nextafterf(static_cast<float>(middle), static_cast<float>(low))});
      ExpectRounds(double{std::nextafterf(static_cast<float>(middle), static_cast<float>(high))});
    }
  }
}

TEST(HalfTest, EndsOfTheRangesRoundAsIeeeSays) {
  EXPECT_EQ(FloatToFloat16(65'504.0F), 0x7bff);
  EXPECT_EQ(FloatToFloat16(65'519.996F), 0x7bff);
  EXPECT_EQ(FloatToFloat16(65'520.0F), 0x7c00);
  EXPECT_EQ(DoubleToFloat16(65'520.0 - 1e-9), 0x7bff) << "rounding twice would give infinity";
  EXPECT_EQ(FloatToFloat16(std::ldexp(1.0F, -25)), 0x0000) << "a tie with zero, which is even";
  EXPECT_EQ(DoubleToFloat16(std::ldexp(1.0, -25) * (1 + 1e-12)), 0x0001);
  EXPECT_EQ(FloatToBfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(DoubleToBfloat16(1e300), 0x7f80);
  EXPECT_EQ(DoubleToFloat16(-1e-300), 0x8000);
  for (const double value : {0.0, 1e-320, 1e300, std::numeric_limits<double>::infinity()}) {
    ExpectRounds(value);
  }
}

TEST(HalfTest, NansKeepTheirSignAndUpperPayload) {
  EXPECT_EQ(FloatToFloat16(std::bit_cast<float>(0xffc02000U)), 0xfe01);
  EXPECT_EQ(FloatToFloat16(std::bit_cast<float>(0x7f800001U)), 0x7e00) << "never an infinity";
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0x7f800001U)), 0x7fc0);
  EXPECT_EQ(FloatToBfloat16(std::bit_cast<float>(0xffffffffU)), 0xffff);
  EXPECT_EQ(DoubleToFloat16(std::numeric_limits<double>::quiet_NaN()), 0x7e00);
}

TEST(HalfTest, RandomNumbersRoundToTheNearest) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-140, 128);
  for (int i = 0; i < 200'000; ++i) ExpectRounds(std::exp2(exponent(random)));
}

}  // namespace
}  // namespace shoal::kernels
