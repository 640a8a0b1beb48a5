// Powers, roots, and the error function.
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/powers.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"
#include "kernels/math/erf.h"
#include "kernels/math/pow.h"
#include "kernels/math/roots.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// By squaring, from the exponent's lowest bit on; wraps as repeated multiplication would.
template <std::unsigned_integral T>
SHOAL_INLINE T WholePower(T base, T exponent) {
  T power = 1;
  for (; exponent != 0; exponent = static_cast<T>(exponent >> 1)) {
    if ((exponent & 1) != 0) power = Times(power, base);
    base = Times(base, base);
  }
  return power;
}

struct Power : Plain<Power> {
  template <std::floating_point T>
  SHOAL_INLINE static T Call(T x, T y) {
    return math::Pow(x, y);
  }
  template <std::unsigned_integral T>
  SHOAL_INLINE static T Call(T x, T y) {
    return WholePower(x, y);
  }
  template <std::signed_integral T>
  SHOAL_INLINE static T Call(T x, T y) {
    using U = Signless<T>;
    if (y >= 0) return static_cast<T>(WholePower(static_cast<U>(x), static_cast<U>(y)));
    if (x == 1) return 1;
    return x == -1 ? static_cast<T>((y & 1) != 0 ? -1 : 1) : T{0};
  }
};

SHOAL_MATH_POLICY(Cbrt, "cbrt")
SHOAL_MATH_POLICY(Hypot, "hypot")
SHOAL_MATH_POLICY(Erf, "erf")
SHOAL_MATH_POLICY(Erfc, "erfc")

#define SHOAL_OPS(X) \
  X(Power, "power")  \
  X(Cbrt, "cbrt")    \
  X(Hypot, "hypot")  \
  X(Erf, "erf")      \
  X(Erfc, "erfc")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
