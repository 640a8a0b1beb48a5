// The smaller and the larger one, and the sign of another.
#include <cmath>
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/extremes.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/extremes.h"
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

struct Minimum : Plain<Minimum> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return Least(x, y);
  }
};

struct Maximum : Plain<Maximum> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return Greatest(x, y);
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
