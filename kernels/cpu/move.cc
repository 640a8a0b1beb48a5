// What moves or converts elements and computes nothing: echo, halves, streaming stores.
#include <array>
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
#include "kernels/op_table.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

namespace hn = ::hwy::HWY_NAMESPACE;

void WidenHalves(DType dtype, const uint16_t* halves, float* floats, int64_t count) {
  Widen(dtype, halves, floats, count);
}

void NarrowHalves(DType dtype, const float* floats, uint16_t* halves, int64_t count) {
  Narrow(dtype, floats, halves, count);
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

constexpr BlockCode kBlockCode = {
    .widen = &WidenHalves, .narrow = &NarrowHalves, .stream = &StreamBytes};
const BlockCode& Blocks() { return kBlockCode; }

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {
namespace {

// The C library chooses its own instructions.
template <int64_t kItemBytes>
void CopyItems(const MapBlock& block) {
  if (block.output == block.inputs[0]) return;
  std::memcpy(block.output, block.inputs[0], static_cast<size_t>(block.count * kItemBytes));
}

template <int64_t kItemBytes>
void StreamItems(const MapBlock& block) {
  BlockCodeOfMachine().stream(static_cast<const std::byte*>(block.inputs[0]),
                              static_cast<std::byte*>(block.output), block.count * kItemBytes);
}

template <int64_t kItemBytes>
constexpr void FillEcho(MapCode& code) {
  for (const DType dtype : kAllDTypes) {
    if (ItemBytes(dtype) != kItemBytes) continue;
    code.loops[static_cast<size_t>(dtype)] = &CopyItems<kItemBytes>;
    code.streaming_loops[static_cast<size_t>(dtype)] = &StreamItems<kItemBytes>;
  }
}

constexpr MapCode MakeEchoCode() {
  MapCode code;
  FillEcho<1>(code);
  FillEcho<2>(code);
  FillEcho<4>(code);
  FillEcho<8>(code);
  FillEcho<16>(code);
  return code;
}
constexpr MapCode kEcho = MakeEchoCode();

}  // namespace

HWY_EXPORT(Blocks);

const BlockCode& BlockCodeOfMachine() { return HWY_DYNAMIC_DISPATCH(Blocks)(); }

template <>
const MapCode& MapCodeOf<OpIndex("echo")>() {
  return kEcho;
}

}  // namespace shoal::kernels::cpu
#endif
