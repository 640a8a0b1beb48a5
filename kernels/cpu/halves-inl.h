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

// From AVX2 on the processor converts float16 itself, with the same bits as half.h (a test compares
// all of them); the loops below do the rest, and everything on other instruction sets.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
inline int64_t WidenFloat16Vectors(const uint16_t* halves, float* floats, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i));
    _mm256_storeu_ps(floats + i, _mm256_cvtph_ps(bits));
  }
  return i;
}

inline int64_t NarrowFloat16Vectors(const float* floats, uint16_t* halves, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(floats + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + i), bits);
  }
  return i;
}
#else
inline int64_t WidenFloat16Vectors(const uint16_t*, float*, int64_t) { return 0; }
inline int64_t NarrowFloat16Vectors(const float*, uint16_t*, int64_t) { return 0; }
#endif

inline void Widen(DType dtype, const uint16_t* halves, float* floats, int64_t count) {
  if (dtype == DType::kFloat16) {
    int64_t i = WidenFloat16Vectors(halves, floats, count);
    for (; i < count; ++i) floats[i] = Float16ToFloat(halves[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) floats[i] = Bfloat16ToFloat(halves[i]);
  }
}

inline void Narrow(DType dtype, const float* floats, uint16_t* halves, int64_t count) {
  if (dtype == DType::kFloat16) {
    int64_t i = NarrowFloat16Vectors(floats, halves, count);
    for (; i < count; ++i) halves[i] = FloatToFloat16(floats[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) halves[i] = FloatToBfloat16(floats[i]);
  }
}

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
