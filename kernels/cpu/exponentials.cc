// Exponentials and hyperbolic functions.
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/exponentials.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"
#include "kernels/math/exp.h"
#include "kernels/math/hyperbolic.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

#define SHOAL_OPS(X) \
  X(Exp, "exp")      \
  X(Exp2, "exp2")    \
  X(Expm1, "expm1")  \
  X(Sinh, "sinh")    \
  X(Cosh, "cosh")    \
  X(Tanh, "tanh")

SHOAL_OPS(SHOAL_MATH_POLICY)

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
