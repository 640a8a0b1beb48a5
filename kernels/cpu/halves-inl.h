// Loops over kernels/half.h, compiled once per instruction set.
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/dtype.h"
#include "kernels/half.h"

#if defined(SHOAL_KERNELS_CPU_HALVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_KERNELS_CPU_HALVES_INL_H_
#undef SHOAL_KERNELS_CPU_HALVES_INL_H_
#else
#define SHOAL_KERNELS_CPU_HALVES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

inline void Widen(DType dtype, const uint16_t* halves, float* floats, int64_t count) {
  if (dtype == DType::kFloat16) {
    for (int64_t i = 0; i < count; ++i) floats[i] = Float16ToFloat(halves[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) floats[i] = Bfloat16ToFloat(halves[i]);
  }
}

inline void Narrow(DType dtype, const float* floats, uint16_t* halves, int64_t count) {
  if (dtype == DType::kFloat16) {
    for (int64_t i = 0; i < count; ++i) halves[i] = FloatToFloat16(floats[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) halves[i] = FloatToBfloat16(floats[i]);
  }
}

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
