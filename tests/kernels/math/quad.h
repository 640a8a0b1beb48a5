#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

// The reference: libquadmath, which comes with g++, computes in 113 bits. Its header lies where
// only g++ finds it, so what is needed of it is declared here.
namespace shoal::kernels::math {

__extension__ using Quad = __float128;

extern "C" {
Quad expq(Quad x);
Quad expm1q(Quad x);
Quad logq(Quad x);
Quad log1pq(Quad x);
Quad log2q(Quad x);
Quad log10q(Quad x);
Quad powq(Quad x, Quad y);
Quad sinq(Quad x);
Quad cosq(Quad x);
Quad tanq(Quad x);
Quad asinq(Quad x);
Quad acosq(Quad x);
Quad atanq(Quad x);
Quad atan2q(Quad y, Quad x);
Quad sinhq(Quad x);
Quad coshq(Quad x);
Quad tanhq(Quad x);
Quad asinhq(Quad x);
Quad acoshq(Quad x);
Quad atanhq(Quad x);
Quad cbrtq(Quad x);
Quad hypotq(Quad x, Quad y);
Quad erfq(Quad x);
Quad erfcq(Quad x);
Quad ldexpq(Quad x, int exponent);
Quad frexpq(Quad x, int* exponent);
}

inline Quad exp2q(Quad x) { return powq(2, x); }

/// How far `got` is from `want`, in units of the last place of the T that is nearest to `want`. Of
/// infinities and NaNs only an equal one is near; an infinity is also what rounding makes of `want`
/// beyond the largest number.
template <class T>
double UlpsApart(T got, Quad want) {
  using Limits = std::numeric_limits<T>;
  const bool is_nan = want != want;
  if (is_nan || std::isnan(got)) return is_nan && std::isnan(got) ? 0 : Limits::infinity();
  const T rounded = static_cast<T>(want);
  if (got == rounded) {
    if (std::isinf(rounded)) return 0;
  } else if (std::isinf(rounded) != std::isinf(got)) {
    // One of the two is the largest number: as far as the next one would be.
    return std::fabs(std::isinf(got) ? rounded : got) == Limits::max() ? 1 : Limits::infinity();
  } else if (std::isinf(got)) {
    return Limits::infinity();
  }
  int exponent = Limits::min_exponent;
  if (want != 0) frexpq(want, &exponent);
  exponent = std::max(exponent, Limits::min_exponent);
  const Quad difference = got < want ? want - got : got - want;
  return static_cast<double>(difference / ldexpq(1, exponent - Limits::digits));
}

}  // namespace shoal::kernels::math
