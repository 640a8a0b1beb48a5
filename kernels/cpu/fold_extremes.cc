// Reductions that choose: min, max.
#include <concepts>
#include <cstddef>
#include <limits>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fold_extremes.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/extremes.h"
#include "kernels/cpu/fold_leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// The least and the greatest element of a type.
template <class T>
constexpr T Bound(bool greatest) {
  if constexpr (std::same_as<T, Bool8>) {
    return ToBool8(greatest);
  } else if constexpr (std::floating_point<T>) {
    return greatest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  } else {
    return greatest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

template <bool kGreatest>
struct Choice {
  static constexpr bool kHasNone = false;
  template <class Acc>
  SHOAL_INLINE static constexpr Acc Identity() {
    return Bound<Acc>(!kGreatest);
  }
  template <class Acc>
  SHOAL_INLINE static Acc Join(Acc left, Acc right) {
    return kGreatest ? Greatest(left, right) : Least(left, right);
  }
};

template <bool kGreatest>
struct Extreme {
  static constexpr size_t kInputs = 1;
  using Fold = Choice<kGreatest>;

  template <DType kDType>
  static constexpr DType kAccumulator = IsHalf(kDType) ? DType::kFloat32 : kDType;
  template <DType kDType>
  using Accumulator = Element<kDType>;
  template <DType kDType>
  using Input = Element<kDType>;
  template <DType kDType>
  using Leaf = Element<kDType>;
  template <DType kDType>
  SHOAL_INLINE static Element<kDType> FromLeaf(Element<kDType> leaf) {
    return leaf;
  }
  template <class A, class T>
  SHOAL_INLINE static A Term(T x) {
    if constexpr (std::same_as<T, Bool8>) {
      return ToBool8(IsTrue(x));
    } else {
      return x;
    }
  }
};

constexpr ReduceCodes kMin = MakeReduceCodes<OpIndex("min"), Extreme<false>>();
constexpr ReduceCodes kMax = MakeReduceCodes<OpIndex("max"), Extreme<true>>();
const ReduceCodes& MinCodes() { return kMin; }
const ReduceCodes& MaxCodes() { return kMax; }

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

HWY_EXPORT(MinCodes);
HWY_EXPORT(MaxCodes);

template <>
const ReduceCodes& ReduceCodeOf<OpIndex("min")>() {
  return HWY_DYNAMIC_DISPATCH(MinCodes)();
}
template <>
const ReduceCodes& ReduceCodeOf<OpIndex("max")>() {
  return HWY_DYNAMIC_DISPATCH(MaxCodes)();
}

}  // namespace shoal::kernels::cpu
#endif
