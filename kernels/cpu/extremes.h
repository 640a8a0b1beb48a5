#pragma once

#include <bit>
#include <concepts>

#include "kernels/cpu/element.h"

// The smaller and the larger of two elements.
namespace shoal::kernels::cpu {

// Of equal numbers only zeros differ in their bits, and of those only in the sign: or gives -0 if
// one of them is, and gives +0 if one of them is.
template <std::floating_point T>
SHOAL_INLINE T Smaller(T x, T y) {
  using Bits = BitsOf<T>;
  const T both = std::bit_cast<T>(std::bit_cast<Bits>(x) | std::bit_cast<Bits>(y));
  return x == y ? both : x < y ? x : y;
}
template <std::floating_point T>
SHOAL_INLINE T Larger(T x, T y) {
  using Bits = BitsOf<T>;
  const T both = std::bit_cast<T>(std::bit_cast<Bits>(x) & std::bit_cast<Bits>(y));
  return x == y ? both : x > y ? x : y;
}
template <std::integral T>
SHOAL_INLINE T Smaller(T x, T y) {
  return x < y ? x : y;
}
template <std::integral T>
SHOAL_INLINE T Larger(T x, T y) {
  return x > y ? x : y;
}
SHOAL_INLINE Bool8 Smaller(Bool8 x, Bool8 y) { return Times(x, y); }
SHOAL_INLINE Bool8 Larger(Bool8 x, Bool8 y) { return Plus(x, y); }

template <class T>
SHOAL_INLINE bool IsNumber(T x) {
  if constexpr (std::floating_point<T>) {
    return x == x;
  } else {
    return true;
  }
}

/// The smaller one, or a NaN if one of them is.
template <class T>
SHOAL_INLINE T Least(T x, T y) {
  return !IsNumber(x) ? x : !IsNumber(y) ? y : Smaller(x, y);
}

/// The larger one, or a NaN if one of them is.
template <class T>
SHOAL_INLINE T Greatest(T x, T y) {
  return !IsNumber(x) ? x : !IsNumber(y) ? y : Larger(x, y);
}

}  // namespace shoal::kernels::cpu
