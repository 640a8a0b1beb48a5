#include "kernels/cpu/sort32.h"

#include <cstddef>
#include <cstdint>

// The baseline is compiled, too, because Highway wants one, but only called on machines with AVX2.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sort32.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "hwy/contrib/sort/traits-inl.h"
#include "hwy/contrib/sort/vqsort-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// For signed keys too, which their caller maps to unsigned ones: each build takes long to compile.
void SortUnsigned(uint32_t* keys, size_t count) {
  namespace hn = ::hwy::HWY_NAMESPACE;
  const hn::SortTag<uint32_t> d;
  const hn::detail::SharedTraits<hn::detail::TraitsLane<hn::detail::OrderAscending<uint32_t>>> st;
  hn::Sort(d, st, keys, count, static_cast<uint32_t*>(nullptr));
}

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

HWY_EXPORT(SortUnsigned);

bool CompressStoreIsSlow() {
#if HWY_ARCH_X86
  // The family that ends with Zen 4, the only one of it that has AVX-512.
  return __builtin_cpu_is("amdfam19h") && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

void SortWithoutCompressStore(uint32_t* keys, size_t count) {
  HWY_DYNAMIC_DISPATCH(SortUnsigned)(keys, count);
}

void SortWithoutCompressStore(int32_t* keys, size_t count) {
  constexpr uint32_t kSign = 0x80000000U;
  auto* unsigned_keys = reinterpret_cast<uint32_t*>(keys);
  for (size_t i = 0; i < count; ++i) unsigned_keys[i] ^= kSign;
  SortWithoutCompressStore(unsigned_keys, count);
  for (size_t i = 0; i < count; ++i) unsigned_keys[i] ^= kSign;
}

}  // namespace shoal::kernels::cpu
#endif
