// What moves elements and computes nothing: halves, streaming stores.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/move.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/cpu/halves-inl.h"
#include "kernels/cpu/op_code.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

namespace hn = ::hwy::HWY_NAMESPACE;

void WidenHalves(DType dtype, const uint16_t* halves, float* floats, int64_t count) {
  Widen(dtype, halves, floats, count);
}

void NarrowHalves(DType dtype, const float* floats, uint16_t* halves, int64_t count) {
  Narrow(dtype, floats, halves, count);
}

void RoundToHalves(DType dtype, float* floats, int64_t count) {
  constexpr int64_t kPiece = 256;
  alignas(64) uint16_t halves[kPiece];
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t size = count - i < kPiece ? count - i : kPiece;
    Narrow(dtype, floats + i, halves, size);
    Widen(dtype, halves, floats + i, size);
  }
}

void StreamBytes(const std::byte* from, std::byte* to, int64_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* source = reinterpret_cast<const uint8_t*>(from);
  auto* target = reinterpret_cast<uint8_t*>(to);
  int64_t i = 0;
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, source + i), d, target + i);
  if (i < bytes) std::memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}

constexpr BlockCode kBlockCode = {.widen = &WidenHalves,
                                  .narrow = &NarrowHalves,
                                  .round = &RoundToHalves,
                                  .stream = &StreamBytes};
const BlockCode& Blocks() { return kBlockCode; }

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {
HWY_EXPORT(Blocks);

const BlockCode& BlockCodeOfMachine() { return HWY_DYNAMIC_DISPATCH(Blocks)(); }

}  // namespace shoal::kernels::cpu
#endif
