// Logarithms and inverse hyperbolic functions.
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/logarithms.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"
#include "kernels/math/hyperbolic.h"
#include "kernels/math/log.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

#define SHOAL_OPS(X) \
  X(Log, "log")      \
  X(Log1p, "log1p")  \
  X(Log2, "log2")    \
  X(Log10, "log10")  \
  X(Asinh, "asinh")  \
  X(Acosh, "acosh")  \
  X(Atanh, "atanh")

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
