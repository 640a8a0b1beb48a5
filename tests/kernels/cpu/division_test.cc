#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Python's, in more bits than any integer here has.
template <std::integral T>
T Floored(T x, T y) {
  if (y == 0) return 0;
  __extension__ using Wide = __int128;
  const Wide quotient = Wide{x} / Wide{y};
  const bool down = quotient * y != x && ((x < 0) != (y < 0));
  return static_cast<T>(quotient - (down ? 1 : 0));
}

/// NumPy's definition: the truncated division's exact remainder, corrected to the divisor's sign,
/// and the whole number that goes with it.
template <std::floating_point T>
std::pair<T, T> FlooredWithRest(T x, T y) {
  T rest = std::fmod(x, y);
  if (y == 0) return {x / y, rest};
  T quotient = (x - rest) / y;
  if (rest == 0) {
    rest = std::copysign(T{0}, y);
  } else if ((y < 0) != (rest < 0)) {
    rest += y;
    quotient -= 1;
  }
  if (quotient == 0) return {std::copysign(T{0}, x / y), rest};
  const T floored = std::floor(quotient);
  return {quotient - floored > T{0.5} ? floored + 1 : floored, rest};
}

TEST(DivisionTest, QuotientsFloorAndIntegersByZeroAreZero) {
  ExpectBinary(
      "floor_divide", []<std::integral T>(T x, T y) { return Floored(x, y); },
      []<std::floating_point T>(T x, T y) { return FlooredWithRest(x, y).first; });
  ExpectBinary(
      "remainder",
      []<std::integral T>(T x, T y) {
        if (y == 0) return T{0};
        return static_cast<T>(static_cast<uint64_t>(x) -
                              static_cast<uint64_t>(Floored(x, y)) * static_cast<uint64_t>(y));
      },
      []<std::floating_point T>(T x, T y) { return FlooredWithRest(x, y).second; });
}

template <class T>
T RunOne(const char* op, DType dtype, T x, T y) {
  T out = {};
  const support::OneKernel one = support::OneOp({*FindOp(op), dtype}, {&x, &y}, {&out, 1});
  RunMap(one.kernel, one.args(), {0, 1});
  return out;
}

TEST(DivisionTest, IntegersAtTheEdges) {
  EXPECT_EQ(RunOne<int32_t>("floor_divide", DType::kInt32, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(RunOne<int32_t>("remainder", DType::kInt32, INT32_MIN, -1), 0);
  EXPECT_EQ(RunOne<int64_t>("floor_divide", DType::kInt64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(RunOne<int64_t>("floor_divide", DType::kInt64, INT64_MIN, 1), INT64_MIN);
  EXPECT_EQ(RunOne<int32_t>("floor_divide", DType::kInt32, INT32_MIN, INT32_MAX), -2);
  EXPECT_EQ(RunOne<uint32_t>("floor_divide", DType::kUint32, UINT32_MAX, UINT32_MAX - 1), 1U);
}

// As NumPy 2 gives them.
TEST(DivisionTest, FloatsAtTheEdges) {
  struct Case {
    double x, y, quotient, rest;
  };
  const Case cases[] = {{7, 3, 2, 1},
                        {-7, 3, -3, 2},
                        {7, -3, -3, -2},
                        {-7, -3, 2, -1},
                        {6, 3, 2, 0},
                        {-6, 3, -2, 0},
                        {6, -3, -2, -0.0},
                        {1, 0, kInf, kNan},
                        {-1, 0, -kInf, kNan},
                        {0, 0, kNan, kNan},
                        {-1, kInf, -1, kInf},
                        {1, kInf, 0, 1},
                        {kInf, 3, kNan, kNan},
                        {1, kNan, kNan, kNan},
                        {0.3, 0.1, 2, 0.3 - 2 * 0.1},
                        {-0.0, 3, -0.0, 0},
                        {1e300, 1e-300, kInf, 0}};
  for (const Case& c : cases) {
    const double quotient = RunOne("floor_divide", DType::kFloat64, c.x, c.y);
    EXPECT_TRUE(IsSame(quotient, c.quotient)) << c.x << " // " << c.y << " is " << quotient;
    const double rest = RunOne("remainder", DType::kFloat64, c.x, c.y);
    if (std::isnan(c.rest)) {
      EXPECT_TRUE(std::isnan(rest)) << c.x << " % " << c.y << " is " << rest;
    } else if (std::isinf(c.rest)) {
      EXPECT_EQ(rest, c.rest) << c.x << " % " << c.y;
    } else if (c.x != 1e300) {
      EXPECT_NEAR(rest, c.rest, 1e-15) << c.x << " % " << c.y;
      EXPECT_EQ(std::signbit(rest), std::signbit(c.rest)) << c.x << " % " << c.y;
    }
  }
}

/// Smith's method, each operation rounded by itself.
template <class T>
Complex<T> ByLargerPart(Complex<T> x, Complex<T> y) {
  if (y.re == 0 && y.im == 0) return {x.re / std::fabs(y.re), x.im / std::fabs(y.re)};
  const bool by_real = std::fabs(y.re) >= std::fabs(y.im);
  const T ratio = by_real ? y.im / y.re : y.re / y.im;
  // Variables keep a compiler from fusing.
  const volatile T share = ratio * (by_real ? y.im : y.re);
  const volatile T scale = T{1} / ((by_real ? y.re : y.im) + share);
  const volatile T real_share = x.re * ratio;
  const volatile T imaginary_share = x.im * ratio;
  if (by_real) return {(x.re + imaginary_share) * scale, (x.im - real_share) * scale};
  return {(real_share + x.im) * scale, (imaginary_share - x.re) * scale};
}

TEST(DivisionTest, QuotientsOfFloatsAreRoundedOnce) {
  ExpectBinary(
      "divide", []<std::floating_point T>(T x, T y) { return x / y; },
      []<class T>(Complex<T> x, Complex<T> y) { return ByLargerPart(x, y); });
}

TEST(DivisionTest, ComplexQuotientsDoNotOverflowOnTheWay) {
  using C = Complex<double>;
  const C huge = RunOne("divide", DType::kComplex128, C{1e300, 1e300}, C{1e300, 1e300});
  EXPECT_EQ(huge.re, 1.0);
  EXPECT_EQ(huge.im, 0.0);
  const C by_zero = RunOne("divide", DType::kComplex128, C{1, -2}, C{0, 0});
  EXPECT_EQ(by_zero.re, kInf);
  EXPECT_EQ(by_zero.im, -kInf);
  for (int i = 0; i < 200; ++i) {
    const std::complex<double> x(std::sin(i), std::cos(3 * i));
    const std::complex<double> y(std::cos(7 * i), std::sin(5 * i) - 0.5);
    const C seen =
        RunOne("divide", DType::kComplex128, C{x.real(), x.imag()}, C{y.real(), y.imag()});
    EXPECT_LT(std::abs(std::complex<double>(seen.re, seen.im) - x / y), 1e-14 * std::abs(x / y));
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
