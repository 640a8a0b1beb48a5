// Functions of angles and their inverses.
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/angles.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"
#include "kernels/math/inverse_trig.h"
#include "kernels/math/trig.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// Most angles are no further from 0 than kModerateBound, and theirs is a third of the work. The
// general form, in which both are computed and one is chosen, gives the same bits.
#define SHOAL_TRIG_POLICY(Name)              \
  struct Name : PlainWithCommon<Name> {      \
    template <std::floating_point T>         \
    SHOAL_INLINE static T Call(T x) {        \
      return math::Name(x);                  \
    }                                        \
    template <std::floating_point T>         \
    SHOAL_INLINE static T Common(T x) {      \
      return math::Name##Moderate(x);        \
    }                                        \
    template <std::floating_point T>         \
    SHOAL_INLINE static bool IsCommon(T x) { \
      return math::IsModerate(x);            \
    }                                        \
  };
SHOAL_TRIG_POLICY(Sin)
SHOAL_TRIG_POLICY(Cos)
SHOAL_TRIG_POLICY(Tan)
#undef SHOAL_TRIG_POLICY

SHOAL_MATH_POLICY(Asin, "asin")
SHOAL_MATH_POLICY(Acos, "acos")
SHOAL_MATH_POLICY(Atan, "atan")
SHOAL_MATH_POLICY(Atan2, "atan2")

#define SHOAL_OPS(X) \
  X(Sin, "sin")      \
  X(Cos, "cos")      \
  X(Tan, "tan")      \
  X(Asin, "asin")    \
  X(Acos, "acos")    \
  X(Atan, "atan")    \
  X(Atan2, "atan2")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
