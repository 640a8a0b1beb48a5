// The leaf of the canonical tree (kernels/reduce.h), compiled once per instruction set.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "hwy/highway.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/halves-inl.h"
#include "kernels/cpu/op_code.h"
#include "kernels/op_table.h"
#include "kernels/reduce.h"

#if defined(SHOAL_KERNELS_CPU_FOLD_LEAF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHOAL_KERNELS_CPU_FOLD_LEAF_INL_H_
#undef SHOAL_KERNELS_CPU_FOLD_LEAF_INL_H_
#else
#define SHOAL_KERNELS_CPU_FOLD_LEAF_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// A term maker: from the inputs' elements at one index to the accumulator's element.
template <class Policy, class T, class A>
struct TermsOfInputs {
  SHOAL_INLINE A operator()(int64_t i) const {
    if constexpr (Policy::kInputs == 1) {
      return Policy::template Term<A>(x[i]);
    } else {
      return Policy::template Term<A>(x[i], y[i]);
    }
  }
  const T* x;
  const T* y;
};

template <class Acc>
struct TermsThemselves {
  SHOAL_INLINE Acc operator()(int64_t i) const { return terms[i]; }
  const Acc* terms;
};

// The compiler keeps all lanes in vector registers; each lane adds in index order.
template <class Fold, class Acc, class Terms>
SHOAL_INLINE Acc FoldLeaf(Terms term, int64_t count) {
  Acc lanes[kLeafLanes];
  for (Acc& lane : lanes) lane = Fold::template Identity<Acc>();
  int64_t i = 0;
  for (; i + kLeafLanes <= count; i += kLeafLanes) {
    for (int j = 0; j < kLeafLanes; ++j) lanes[j] = Fold::Join(lanes[j], term(i + j));
  }
  for (int j = 0; i < count; ++i, ++j) lanes[j] = Fold::Join(lanes[j], term(i));
  int width = kLeafLanes / 2;
  while (width >= count) width /= 2;  // Joining with lanes that hold the identity changes nothing.
  for (; width >= 1; width /= 2) {
    for (int j = 0; j < width; ++j) lanes[j] = Fold::Join(lanes[j], lanes[j + width]);
  }
  return Canonical(lanes[0]);
}

// Where the order cannot change the bits, the compiler may choose it.
template <class Fold, class Acc, class Terms>
SHOAL_INLINE Acc FoldAnyOrder(Terms term, int64_t count) {
  Acc value = Fold::template Identity<Acc>();
  for (int64_t i = 0; i < count; ++i) value = Fold::Join(value, term(i));
  return value;
}

template <class Fold, class Acc, class Terms>
SHOAL_INLINE Acc FoldTerms(Terms term, int64_t count) {
  if constexpr (std::floating_point<Acc> || kIsComplex<Acc>) {
    return FoldLeaf<Fold, Acc>(term, count);
  } else {
    return FoldAnyOrder<Fold, Acc>(term, count);
  }
}

// The functions of one ReduceCode.
//
// A policy has `kInputs`, `Fold` (Identity, Join and, where `kHasNone`, the value None of no
// terms), and for each dtype: `kAccumulator` and the type it is held in, `Input`, the type the
// inputs are read as; `Leaf`, a type in which the terms of one leaf may be added instead because
// FromLeaf gives the same bits (fewer bytes, more lanes); and `Term<A>`, the term of one index in
// type A.
template <class Policy, DType kDType>
struct Reduction {
  using Acc = typename Policy::template Accumulator<kDType>;
  using LeafAcc = typename Policy::template Leaf<kDType>;
  using T = typename Policy::template Input<kDType>;
  using Fold = typename Policy::Fold;
  using Inputs = std::array<const void*, 2>;
  static_assert(sizeof(Acc) == ItemBytes(Policy::template kAccumulator<kDType>));

  // Halves become floats in scratch memory first, which stays in cache.
  struct Widened {
    alignas(64) float floats[Policy::kInputs][kLeafElements];

    const float* Fill(size_t input, const Inputs& inputs, int64_t count) {
      Widen(kDType, static_cast<const uint16_t*>(inputs[input]), floats[input], count);
      return floats[input];
    }
  };

  template <class A>
  SHOAL_INLINE static TermsOfInputs<Policy, T, A> Terms(const Inputs& inputs) {
    return {static_cast<const T*>(inputs[0]), static_cast<const T*>(inputs[1])};
  }

  template <class Use>
  SHOAL_INLINE static void WithPlainInputs(const Inputs& inputs, int64_t count, Use use) {
    if constexpr (IsHalf(kDType)) {
      Widened widened;
      Inputs floats = {};
      for (size_t i = 0; i < Policy::kInputs; ++i) floats[i] = widened.Fill(i, inputs, count);
      use(floats);
    } else {
      use(inputs);
    }
  }

  static void LeafOfInputs(const Inputs& inputs, int64_t count, void* value) {
    WithPlainInputs(inputs, count, [count, value](const Inputs& plain) {
      const LeafAcc leaf = FoldTerms<Fold, LeafAcc>(Terms<LeafAcc>(plain), count);
      *static_cast<Acc*>(value) = Policy::template FromLeaf<kDType>(leaf);
    });
  }

  static void WriteTerms(const Inputs& inputs, int64_t count, void* terms) {
    WithPlainInputs(inputs, count, [count, terms](const Inputs& plain) {
      auto* out = static_cast<Acc*>(terms);
      const auto term = Terms<Acc>(plain);
      for (int64_t i = 0; i < count; ++i) out[i] = Canonical(term(i));
    });
  }

  static void LeafOfTerms(const void* terms, int64_t count, void* value) {
    const TermsThemselves<Acc> term = {static_cast<const Acc*>(terms)};
    *static_cast<Acc*>(value) = FoldTerms<Fold, Acc>(term, count);
  }

  // The columns of whole leaves have a loop of their own, in which the rows are unrolled.
  template <int64_t kRows>
  SHOAL_INLINE static void AddRows(const T* input, int64_t stride, int64_t rows, int64_t columns,
                                   Acc* values) {
    const int64_t count = kRows == 0 ? rows : kRows;
    for (int64_t j = 0; j < columns; ++j) {
      Acc value = Policy::template Term<Acc>(input[j]);
      for (int64_t i = 1; i < count; ++i) {
        value = Fold::Join(value, Policy::template Term<Acc>(input[i * stride + j]));
      }
      values[j] = Canonical(value);
    }
  }

  static void LeavesOfRows(const void* input, int64_t stride, int64_t rows, int64_t columns,
                           void* values) {
    auto* out = static_cast<Acc*>(values);
    if constexpr (Policy::kInputs == 1 && IsHalf(kDType)) {
      Widened widened;
      const auto* halves = static_cast<const uint16_t*>(input);
      WriteTerms({halves, nullptr}, columns, out);
      for (int64_t i = 1; i < rows; ++i) {
        const float* row = widened.Fill(0, {halves + i * stride, nullptr}, columns);
        for (int64_t j = 0; j < columns; ++j) {
          out[j] = Canonical(Fold::Join(out[j], Policy::template Term<Acc>(row[j])));
        }
      }
    } else if constexpr (Policy::kInputs == 1) {
      const auto* elements = static_cast<const T*>(input);
      if (rows == kLeafRows) {
        AddRows<kLeafRows>(elements, stride, rows, columns, out);
      } else {
        AddRows<0>(elements, stride, rows, columns, out);
      }
    }
  }

  static void JoinNodes(void* left, const void* right, int64_t count) {
    auto* values = static_cast<Acc*>(left);
    const auto* others = static_cast<const Acc*>(right);
    for (int64_t i = 0; i < count; ++i) values[i] = Canonical(Fold::Join(values[i], others[i]));
  }

  static void FinishRoots(const void* values, void* outputs, int64_t count) {
    if constexpr (IsHalf(kDType)) {
      Narrow(kDType, static_cast<const float*>(values), static_cast<uint16_t*>(outputs), count);
    } else {
      std::memcpy(outputs, values, static_cast<size_t>(count) * sizeof(Acc));
    }
  }

  static void ValueOfNone(void* value) {
    if constexpr (Fold::kHasNone) *static_cast<Acc*>(value) = Fold::template None<Acc>();
  }

  static constexpr ReduceCode Code() {
    return {.accumulator = Policy::template kAccumulator<kDType>,
            .leaf = &LeafOfInputs,
            .terms = &WriteTerms,
            .fold = &LeafOfTerms,
            .rows = Policy::kInputs == 1 ? &LeavesOfRows : nullptr,
            .join = &JoinNodes,
            .finish = &FinishRoots,
            .empty = Fold::kHasNone ? &ValueOfNone : nullptr};
  }
};

template <size_t kOp, class Policy, size_t kSlot>
constexpr void FillReduceSlot(ReduceCodes& codes) {
  constexpr DType kDType = kAllDTypes[kSlot];
  constexpr OpInfo kRow = kOpTable[kOp];
  static_assert(kRow.form == OpForm::kReduce);
  static_assert(kRow.inputs_min == Policy::kInputs && kRow.inputs_max == Policy::kInputs);
  static_assert(kRow.needs_elements != Policy::Fold::kHasNone);
  if constexpr (kRow.Supports(kDType)) {
    codes[static_cast<size_t>(kDType)] = Reduction<Policy, kDType>::Code();
  }
}

template <size_t kOp, class Policy>
constexpr ReduceCodes MakeReduceCodes() {
  ReduceCodes codes;
  [&codes]<size_t... kSlots>(std::index_sequence<kSlots...>) {
    (FillReduceSlot<kOp, Policy, kSlots>(codes), ...);
  }
  (std::make_index_sequence<kAllDTypes.size()>());
  return codes;
}

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
