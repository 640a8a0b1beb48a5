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

// Where a loop reads. `C` is the type of the first input: T, or Bool8 where it is a condition.
// Operands that the op does not have are the same as the last one.
template <class C, class T>
struct Operands {
  SHOAL_INLINE Operands From(int64_t i) const { return {x + i, y + i, z + i}; }
  const C* x;
  const T* y;
  const T* z;
};

template <int kInputs, class C, class T>
SHOAL_INLINE Operands<C, T> OperandsOf(const MapBlock& block) {
  constexpr size_t kLast = kInputs - 1;
  return {static_cast<const C*>(block.inputs[0]),
          static_cast<const T*>(block.inputs[kLast < 1 ? kLast : 1]),
          static_cast<const T*>(block.inputs[kLast])};
}

template <int kInputs, class Function, class C, class T>
SHOAL_INLINE auto ValueAt(const Function& function, Operands<C, T> in, int64_t i) {
  if constexpr (kInputs == 1) {
    return Canonical(function(in.x[i]));
  } else if constexpr (kInputs == 2) {
    return Canonical(function(in.x[i], in.y[i]));
  } else {
    return Canonical(function(in.x[i], in.y[i], in.z[i]));
  }
}

// A function that has a cheaper form for common arguments, with the same bits there.
template <class Function>
concept HasCommonForm = requires(const Function& function) {
  function.general();
};

template <int kInputs, class Function, class C, class T, class R>
SHOAL_INLINE void ApplyTo(const Function& function, Operands<C, T> in, R* output, int64_t count);

// In pieces, of which those that hold nothing uncommon take the cheaper form. A piece is short
// enough to be still in the first cache, and that one uncommon element costs little.
template <class Function, class C, class T, class R>
SHOAL_INLINE void ApplyCommonTo(const Function& function, Operands<C, T> in, R* output,
                                int64_t count) {
  constexpr int64_t kPiece = 256;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t end = begin + kPiece < count ? begin + kPiece : count;
    int uncommon = 0;
    for (int64_t i = begin; i < end; ++i) uncommon |= Function::IsCommon(in.x[i]) ? 0 : 1;
    if (uncommon == 0) {
      ApplyTo<1>(typename Function::CommonForm(), in.From(begin), output + begin, end - begin);
    } else {
      ApplyTo<1>(function.general(), in.From(begin), output + begin, end - begin);
    }
  }
}

// The loop promises the vectoriser what MapBlock promises us: the output is apart from an input or
// exactly the same memory, so no iteration reads what an earlier one wrote.
template <int kInputs, class Function, class C, class T, class R>
SHOAL_INLINE void ApplyTo(const Function& function, Operands<C, T> in, R* output, int64_t count) {
  if constexpr (HasCommonForm<Function>) {
    static_assert(kInputs == 1);
    ApplyCommonTo(function, in, output, count);
  } else {
    SHOAL_NO_LOOP_CARRIED_DEPENDENCES
    for (int64_t i = 0; i < count; ++i) output[i] = ValueAt<kInputs>(function, in, i);
  }
}

// What a policy makes of elements of type T for one row of the table.
template <class Policy, size_t kOp, class T>
struct Shape {
  static constexpr OpInfo kRow = kOpTable[kOp];
  static constexpr int kInputs = kRow.inputs_max;
  using Function = typename Policy::template Of<T>;
  using First = std::conditional_t<kRow.condition, Bool8, T>;
  using Result = decltype(ValueAt<kInputs>(std::declval<const Function&>(),
                                           std::declval<Operands<First, T>>(), 0));
};

template <class Policy, size_t kOp, class T>
void Loop(const MapBlock& block) {
  using Of = Shape<Policy, kOp, T>;
  const typename Of::Function function(*block.params);
  ApplyTo<Of::kInputs>(function, OperandsOf<Of::kInputs, typename Of::First, T>(block),
                       static_cast<typename Of::Result*>(block.output), block.count);
}

// Two lines of output at a time, made on the stack and stored from there around the caches. With
// larger pieces the loads of one piece would wait for the stores of the piece before. But 32
// elements at least: 16 of them g++ unrolls before it makes vectors, and then makes none (float64's
// sums took 1.6 times, roots 4 times as long).
template <class Policy, size_t kOp, class T>
void StreamingLoop(const MapBlock& block) {
  using Of = Shape<Policy, kOp, T>;
  using R = typename Of::Result;
  constexpr int64_t kPieceBytes = 128 < 32 * sizeof(R) ? 32 * sizeof(R) : 128;
  constexpr int64_t kPiece = kPieceBytes / static_cast<int64_t>(sizeof(R));
  constexpr hn::ScalableTag<uint8_t> kBytes;
  const typename Of::Function function(*block.params);
  const auto in = OperandsOf<Of::kInputs, typename Of::First, T>(block);
  auto* output = static_cast<R*>(block.output);
  alignas(64) R piece[static_cast<size_t>(kPiece)];
  int64_t i = 0;
  for (; i + kPiece <= block.count; i += kPiece) {
    ApplyTo<Of::kInputs>(function, in.From(i), piece, kPiece);
    const auto* from = reinterpret_cast<const uint8_t*>(piece);
    auto* to = reinterpret_cast<uint8_t*>(output + i);
    for (int64_t j = 0; j < kPieceBytes; j += static_cast<int64_t>(hn::Lanes(kBytes))) {
      hn::Stream(hn::Load(kBytes, from + j), kBytes, to + j);
    }
  }
  ApplyTo<Of::kInputs>(function, in.From(i), output + i, block.count - i);
}

template <size_t kOp, class Policy, size_t kSlot>
constexpr void FillSlot(MapCode& code) {
  constexpr DType kDType = kAllDTypes[kSlot];
  constexpr OpInfo kRow = kOpTable[kOp];
  static_assert(kRow.form == OpForm::kMap && kRow.inputs_min == kRow.inputs_max);
  static_assert(kRow.inputs_max <= 3, "Loop has no form for more inputs yet");
  if constexpr (kRow.Supports(kDType)) {
    using T = std::conditional_t<Policy::kSignless, Signless<Element<kDType>>, Element<kDType>>;
    using Result = typename Shape<Policy, kOp, T>::Result;
    static_assert(sizeof(Result) == sizeof(Element<OutputDType(kRow, kDType)>),
                  "the row's output is of another dtype than the policy's");
    constexpr auto kSlotOfDType = static_cast<size_t>(kDType);
    code.loops[kSlotOfDType] = &Loop<Policy, kOp, T>;
    code.streaming_loops[kSlotOfDType] = &StreamingLoop<Policy, kOp, T>;
  }
}

// A policy has `kSignless` (wrapping arithmetic alone: both signs share code) and a class template
// `Of<T>`, made from the parameters, whose call operator is the op on elements of type T. What it
// returns is an element of the output: for `DTypeRule::kBool` a Bool8.
//
// Most are written as one static function: `struct Add : Plain<Add> { Call(x, y) }`.
template <class Function, bool kIsSignless>
struct PlainPolicy {
  static constexpr bool kSignless = kIsSignless;
  template <class T>
  struct Of {
    explicit Of(const Params&) {}
    template <class... X>
    SHOAL_INLINE auto operator()(X... x) const {
      return Function::Call(x...);
    }
  };
};
template <class Function>
using Plain = PlainPolicy<Function, false>;
template <class Function>
using PlainSignless = PlainPolicy<Function, true>;

// The same for a function of one number with `IsCommon(x)` and, for those x, `Common(x)`.
template <class Function>
struct PlainWithCommon {
  static constexpr bool kSignless = false;
  struct General {
    template <class X>
    SHOAL_INLINE auto operator()(X x) const {
      return Function::Call(x);
    }
  };
  template <class T>
  struct Of : General {
    struct CommonForm {
      SHOAL_INLINE auto operator()(T x) const { return Function::Common(x); }
    };
    explicit Of(const Params&) {}
    SHOAL_INLINE static bool IsCommon(T x) { return Function::IsCommon(x); }
    SHOAL_INLINE General general() const { return {}; }
  };
};

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

// A kernel file lists its ops once, as a macro of (policy, name of the row), and hands the list to
// both: the first within the namespace of each instruction set, the second once.
#ifndef SHOAL_MAKE_MAP_CODE
#define SHOAL_MAKE_MAP_CODE(Policy, kName)                                   \
  constexpr MapCode k##Policy##Code = MakeMapCode<OpIndex(kName), Policy>(); \
  const MapCode& Policy##Code() { return k##Policy##Code; }
// The policy that is a function of kernels/math and no more.
#define SHOAL_MATH_POLICY(Name, unused)     \
  struct Name : Plain<Name> {               \
    template <std::floating_point... T>     \
    SHOAL_INLINE static auto Call(T... x) { \
      return math::Name(x...);              \
    }                                       \
  };
#define SHOAL_BIND_MAP_CODE(Policy, kName)       \
  HWY_EXPORT(Policy##Code);                      \
  template <>                                    \
  const MapCode& MapCodeOf<OpIndex(kName)>() {   \
    return HWY_DYNAMIC_DISPATCH(Policy##Code)(); \
  }
#endif

#endif
