// Whole numbers near a number.
#include <cmath>
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rounding.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// Integers and bools are whole already.
template <class T>
inline constexpr bool kIsWhole = std::integral<T> || std::same_as<T, Bool8>;

struct Floor : Plain<Floor> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    if constexpr (kIsWhole<T>) {
      return x;
    } else {
      return std::floor(x);
    }
  }
};

struct Ceil : Plain<Ceil> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    if constexpr (kIsWhole<T>) {
      return x;
    } else {
      return std::ceil(x);
    }
  }
};

struct Trunc : Plain<Trunc> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    if constexpr (kIsWhole<T>) {
      return x;
    } else {
      return std::trunc(x);
    }
  }
};

// In the default rounding mode, which nothing here changes.
struct Rint : Plain<Rint> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    return std::rint(x);
  }
};

#define SHOAL_OPS(X) \
  X(Floor, "floor")  \
  X(Ceil, "ceil")    \
  X(Trunc, "trunc")  \
  X(Rint, "rint")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
