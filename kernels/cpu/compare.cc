// Comparisons, and what kind of number an element is.
#include <concepts>
#include <cstdint>
#include <limits>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/compare.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// A bool is compared as 0 or 1, whatever its byte.
template <class T>
SHOAL_INLINE T Ordered(T x) {
  return x;
}
SHOAL_INLINE uint8_t Ordered(Bool8 x) { return IsTrue(x) ? 1 : 0; }

template <class T>
SHOAL_INLINE bool AreEqual(T x, T y) {
  return Ordered(x) == Ordered(y);
}
template <class T>
SHOAL_INLINE bool AreEqual(Complex<T> x, Complex<T> y) {
  return (x.re == y.re) & (x.im == y.im);
}

struct Equal : Plain<Equal> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(AreEqual(x, y));
  }
};

struct NotEqual : Plain<NotEqual> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(!AreEqual(x, y));
  }
};

struct Less : Plain<Less> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(Ordered(x) < Ordered(y));
  }
};

struct LessEqual : Plain<LessEqual> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(Ordered(x) <= Ordered(y));
  }
};

struct Greater : Plain<Greater> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(Ordered(x) > Ordered(y));
  }
};

struct GreaterEqual : Plain<GreaterEqual> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(Ordered(x) >= Ordered(y));
  }
};

template <std::floating_point T>
SHOAL_INLINE bool IsInfinite(T x) {
  return std::fabs(x) == std::numeric_limits<T>::infinity();
}

struct IsNan : Plain<IsNan> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x) {
    if constexpr (kIsComplex<T>) {
      return ToBool8((x.re != x.re) | (x.im != x.im));
    } else if constexpr (std::floating_point<T>) {
      return ToBool8(x != x);
    } else {
      return Bool8::kFalse;
    }
  }
};

struct IsInf : Plain<IsInf> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x) {
    if constexpr (kIsComplex<T>) {
      return ToBool8(IsInfinite(x.re) | IsInfinite(x.im));
    } else if constexpr (std::floating_point<T>) {
      return ToBool8(IsInfinite(x));
    } else {
      return Bool8::kFalse;
    }
  }
};

template <std::floating_point T>
SHOAL_INLINE bool IsFinite(T x) {
  return std::fabs(x) <= std::numeric_limits<T>::max();
}

struct IsFiniteOp : Plain<IsFiniteOp> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x) {
    if constexpr (kIsComplex<T>) {
      return ToBool8(IsFinite(x.re) & IsFinite(x.im));
    } else if constexpr (std::floating_point<T>) {
      return ToBool8(IsFinite(x));
    } else {
      return Bool8::kTrue;
    }
  }
};

struct Signbit : Plain<Signbit> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x) {
    return ToBool8(std::bit_cast<BitsOf<T>>(x) >> (8 * sizeof(T) - 1) != 0);
  }
};

#define SHOAL_OPS(X)               \
  X(Equal, "equal")                \
  X(NotEqual, "not_equal")         \
  X(Less, "less")                  \
  X(LessEqual, "less_equal")       \
  X(Greater, "greater")            \
  X(GreaterEqual, "greater_equal") \
  X(IsNan, "isnan")                \
  X(IsInf, "isinf")                \
  X(IsFiniteOp, "isfinite")        \
  X(Signbit, "signbit")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
