// The smaller and the larger one, and the sign of another.
#include <cmath>
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/extremes.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

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

struct Minimum : Plain<Minimum> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return !IsNumber(x) ? x : !IsNumber(y) ? y : Smaller(x, y);
  }
};

struct Maximum : Plain<Maximum> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return !IsNumber(x) ? x : !IsNumber(y) ? y : Larger(x, y);
  }
};

struct Fmin : Plain<Fmin> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return !IsNumber(x) ? y : !IsNumber(y) ? x : Smaller(x, y);
  }
};

struct Fmax : Plain<Fmax> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return !IsNumber(x) ? y : !IsNumber(y) ? x : Larger(x, y);
  }
};

struct Copysign : Plain<Copysign> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return std::copysign(x, y);
  }
};

#define SHOAL_OPS(X)    \
  X(Minimum, "minimum") \
  X(Maximum, "maximum") \
  X(Fmin, "fmin")       \
  X(Fmax, "fmax")       \
  X(Copysign, "copysign")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
