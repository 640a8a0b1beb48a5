// Compiled once per instruction set (Highway's foreach_target), hence no include guard of the usual
// kind.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/op_code.h"
#include "kernels/op_table.h"

#if defined(SHOAL_KERNELS_CPU_MAP_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_KERNELS_CPU_MAP_LOOP_INL_H_
#undef SHOAL_KERNELS_CPU_MAP_LOOP_INL_H_
#else
#define SHOAL_KERNELS_CPU_MAP_LOOP_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

namespace hn = ::hwy::HWY_NAMESPACE;

#undef SHOAL_NO_LOOP_CARRIED_DEPENDENCES
#ifdef __clang__
#define SHOAL_NO_LOOP_CARRIED_DEPENDENCES _Pragma("clang loop vectorize(assume_safety)")
#else
#define SHOAL_NO_LOOP_CARRIED_DEPENDENCES _Pragma("GCC ivdep")
#endif

template <class T>
struct Operands {
  SHOAL_INLINE Operands From(int64_t i) const { return {x + i, y + i}; }
  const T* x;
  const T* y;  // The same as x for an op of one input.
};

template <class T, int kInputs>
SHOAL_INLINE Operands<T> OperandsOf(const MapBlock& block) {
  return {static_cast<const T*>(block.inputs[0]), static_cast<const T*>(block.inputs[kInputs - 1])};
}

// The loop promises the vectoriser what MapBlock promises us: the output is apart from an input or
// exactly the same memory, so no iteration reads what an earlier one wrote.
template <int kInputs, class T, class Function>
SHOAL_INLINE void ApplyTo(const Function& function, Operands<T> in, T* output, int64_t count) {
  SHOAL_NO_LOOP_CARRIED_DEPENDENCES
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kInputs == 1) {
      output[i] = Canonical(function(in.x[i]));
    } else {
      output[i] = Canonical(function(in.x[i], in.y[i]));
    }
  }
}

template <class Policy, class T, int kInputs>
void Loop(const MapBlock& block) {
  const typename Policy::template Of<T> function(*block.params);
  ApplyTo<kInputs>(function, OperandsOf<T, kInputs>(block), static_cast<T*>(block.output),
                   block.count);
}

// Two lines of output at a time, made on the stack and stored from there around the caches. With
// larger pieces the loads of one piece would wait for the stores of the piece before.
template <class Policy, class T, int kInputs>
void StreamingLoop(const MapBlock& block) {
  constexpr int64_t kPieceBytes = 128;
  constexpr int64_t kPiece = kPieceBytes / static_cast<int64_t>(sizeof(T));
  constexpr hn::ScalableTag<uint8_t> kBytes;
  const typename Policy::template Of<T> function(*block.params);
  const Operands<T> in = OperandsOf<T, kInputs>(block);
  auto* output = static_cast<T*>(block.output);
  alignas(64) T piece[static_cast<size_t>(kPiece)];
  int64_t i = 0;
  for (; i + kPiece <= block.count; i += kPiece) {
    ApplyTo<kInputs>(function, in.From(i), piece, kPiece);
    const auto* from = reinterpret_cast<const uint8_t*>(piece);
    auto* to = reinterpret_cast<uint8_t*>(output + i);
    for (int64_t j = 0; j < kPieceBytes; j += static_cast<int64_t>(hn::Lanes(kBytes))) {
      hn::Stream(hn::Load(kBytes, from + j), kBytes, to + j);
    }
  }
  ApplyTo<kInputs>(function, in.From(i), output + i, block.count - i);
}

template <size_t kOp, class Policy, size_t kSlot>
constexpr void FillSlot(MapCode& code) {
  constexpr DType kDType = kAllDTypes[kSlot];
  constexpr OpInfo kRow = kOpTable[kOp];
  static_assert(kRow.form == OpForm::kMap && kRow.inputs_min == kRow.inputs_max);
  static_assert(kRow.inputs_max <= 2, "Loop has no form for more inputs yet");
  if constexpr (kRow.Supports(kDType)) {
    using T = std::conditional_t<Policy::kSignless, Signless<Element<kDType>>, Element<kDType>>;
    constexpr auto kSlotOfDType = static_cast<size_t>(kDType);
    code.loops[kSlotOfDType] = &Loop<Policy, T, kRow.inputs_max>;
    code.streaming_loops[kSlotOfDType] = &StreamingLoop<Policy, T, kRow.inputs_max>;
  }
}

// A policy has `kSignless` (wrapping arithmetic alone: both signs share code) and a class template
// `Of<T>`, made from the parameters, whose call operator is the op on elements of type T.
template <size_t kOp, class Policy>
constexpr MapCode MakeMapCode() {
  MapCode code;
  code.halves_as_float = true;
  [&code]<size_t... kSlots>(std::index_sequence<kSlots...>) {
    (FillSlot<kOp, Policy, kSlots>(code), ...);
  }
  (std::make_index_sequence<kAllDTypes.size()>());
  return code;
}

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
