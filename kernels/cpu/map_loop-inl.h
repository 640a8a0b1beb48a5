// Compiled once per instruction set (Highway's foreach_target), hence no include guard of the usual
// kind.
#include <cstddef>
#include <cstdint>

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

// The loop promises the vectoriser (ivdep) what MapBlock promises us: the output is apart from an
// input or exactly the same memory, so no iteration reads what an earlier one wrote.
template <class Policy, class T, int kInputs>
void Loop(const MapBlock& block) {
  const typename Policy::template Of<T> function(*block.params);
  const auto* x = static_cast<const T*>(block.inputs[0]);
  auto* output = static_cast<T*>(block.output);
  const int64_t count = block.count;
  if constexpr (kInputs == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) output[i] = Canonical(function(x[i]));
  } else {
    const auto* y = static_cast<const T*>(block.inputs[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) output[i] = Canonical(function(x[i], y[i]));
  }
}

template <class Policy, DType kDType, int kInputs>
constexpr MapLoop LoopOf() {
  using T = Element<kDType>;
  if constexpr (Policy::kSignless) {
    return &Loop<Policy, Signless<T>, kInputs>;
  } else {
    return &Loop<Policy, T, kInputs>;
  }
}

template <size_t kOp, class Policy, size_t kSlot>
constexpr void FillSlot(MapCode& code) {
  constexpr DType kDType = kAllDTypes[kSlot];
  constexpr OpInfo kRow = kOpTable[kOp];
  static_assert(kRow.form == OpForm::kMap && kRow.inputs_min == kRow.inputs_max);
  static_assert(kRow.inputs_max <= 2, "Loop has no form for more inputs yet");
  if constexpr (kRow.Supports(kDType)) {
    code.loops[static_cast<size_t>(kDType)] = LoopOf<Policy, kDType, kRow.inputs_max>();
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
