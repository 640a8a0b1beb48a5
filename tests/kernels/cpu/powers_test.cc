#include <gtest/gtest.h>

#include <concepts>

#include "kernels/math/erf.h"
#include "kernels/math/pow.h"
#include "kernels/math/roots.h"
#include "tests/kernels/cpu/op_cases.h"

// The functions themselves are held to their bounds in tests/kernels/math; here the kernels are
// held to the functions.
namespace shoal::kernels::cpu {
namespace {

// From the exponent's highest bit on.
template <std::unsigned_integral T>
T WholePower(T x, T y) {
  T power = 1;
  for (int bit = 8 * sizeof(T) - 1; bit >= 0; --bit) {
    power = static_cast<T>(uint64_t{power} * power);
    if ((y >> bit & 1) != 0) power = static_cast<T>(uint64_t{power} * x);
  }
  return power;
}

TEST(PowersTest, AreTheFunctionsOfEachElement) {
  ExpectUnary("cbrt", []<std::floating_point T>(T x) { return math::Cbrt(x); });
  ExpectUnary("erf", []<std::floating_point T>(T x) { return math::Erf(x); });
  ExpectUnary("erfc", []<std::floating_point T>(T x) { return math::Erfc(x); });
  ExpectBinary("hypot", []<std::floating_point T>(T x, T y) { return math::Hypot(x, y); });
}

TEST(PowersTest, IntegersWrapAndHaveNoFractions) {
  ExpectBinary(
      "power", []<std::floating_point T>(T x, T y) { return math::Pow(x, y); },
      []<std::unsigned_integral T>(T x, T y) { return WholePower(x, y); },
      []<std::signed_integral T>(T x, T y) -> T {
        using U = std::make_unsigned_t<T>;
        if (y >= 0) return static_cast<T>(WholePower(static_cast<U>(x), static_cast<U>(y)));
        if (x == -1) return y % 2 == 0 ? 1 : -1;
        return x == 1 ? 1 : 0;
      });
}

}  // namespace
}  // namespace shoal::kernels::cpu
