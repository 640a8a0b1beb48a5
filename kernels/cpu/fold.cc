// Reductions that add or multiply: sum, prod, dot.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fold.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/fold_leaf-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

struct Addition {
  static constexpr bool kHasNone = true;
  template <class Acc>
  SHOAL_INLINE static constexpr Acc None() {
    return Acc{};
  }
  template <class Acc>
  SHOAL_INLINE static constexpr Acc Identity() {
    if constexpr (std::floating_point<Acc>) {
      return Acc{-0.0};  // +0 would turn a sum of -0 into +0.
    } else if constexpr (kIsComplex<Acc>) {
      return {-0.0, -0.0};
    } else {
      return Acc{};
    }
  }
  template <class Acc>
  SHOAL_INLINE static constexpr Acc Join(Acc left, Acc right) {
    return Plus(left, right);
  }
};

constexpr bool IsSignedOrBool(DType dtype) {
  return dtype == DType::kBool || IsSignedInteger(dtype);
}
constexpr bool IsIntegerOrBool(DType dtype) {
  return IsSignedOrBool(dtype) || IsUnsignedInteger(dtype);
}

struct Multiplication {
  static constexpr bool kHasNone = true;
  template <class Acc>
  SHOAL_INLINE static constexpr Acc None() {
    return Identity<Acc>();
  }
  template <class Acc>
  SHOAL_INLINE static constexpr Acc Identity() {
    if constexpr (kIsComplex<Acc>) {
      return {1, 0};
    } else {
      return Acc{1};
    }
  }
  template <class Acc>
  SHOAL_INLINE static constexpr Acc Join(Acc left, Acc right) {
    return Times(left, right);
  }
};

// The elements themselves, small ones widened.
struct Widening {
  static constexpr size_t kInputs = 1;

  template <DType kDType>
  static constexpr DType kAccumulator = IsSignedOrBool(kDType)    ? DType::kInt64
                                        : IsIntegerOrBool(kDType) ? DType::kUint64
                                        : IsHalf(kDType)          ? DType::kFloat32
                                                                  : kDType;
  template <DType kDType>
  using Accumulator = Signless<Element<kAccumulator<kDType>>>;
  template <DType kDType>
  using Input = Element<kDType>;

  template <class A, class T>
  SHOAL_INLINE static A Term(T x) {
    if constexpr (std::same_as<T, Bool8>) {
      return static_cast<A>(IsTrue(x));
    } else {
      return static_cast<A>(x);  // Extends the sign before it wraps: the sum modulo 2^64.
    }
  }
};

struct Sum : Widening {
  using Fold = Addition;

  // 4096 terms of at most 16 bits fit 32.
  template <DType kDType>
  using Leaf = std::conditional_t<IsIntegerOrBool(kDType) && (ItemBytes(kDType) < 4), uint32_t,
                                  Accumulator<kDType>>;
  template <DType kDType>
  SHOAL_INLINE static Accumulator<kDType> FromLeaf(Leaf<kDType> leaf) {
    if constexpr (std::same_as<Leaf<kDType>, uint32_t> && IsSignedOrBool(kDType)) {
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(leaf)});
    } else {
      return leaf;
    }
  }
};

struct Product : Widening {
  using Fold = Multiplication;

  template <DType kDType>
  using Leaf = Accumulator<kDType>;
  template <DType kDType>
  SHOAL_INLINE static Accumulator<kDType> FromLeaf(Leaf<kDType> leaf) {
    return leaf;
  }
};

struct Dot {
  static constexpr size_t kInputs = 2;
  using Fold = Addition;

  template <DType kDType>
  static constexpr DType kAccumulator = IsHalf(kDType) ? DType::kFloat32 : kDType;
  template <DType kDType>
  using Accumulator = Signless<Element<kDType>>;
  template <DType kDType>
  using Input = Accumulator<kDType>;

  // Wrapping at 32 bits and then at 8 or 16 is wrapping at 8 or 16; trues are counted.
  template <DType kDType>
  using Leaf = std::conditional_t<IsIntegerOrBool(kDType) && (ItemBytes(kDType) < 4), uint32_t,
                                  Accumulator<kDType>>;
  template <DType kDType>
  SHOAL_INLINE static Accumulator<kDType> FromLeaf(Leaf<kDType> leaf) {
    if constexpr (kDType == DType::kBool) {
      return ToBool8(leaf != 0);
    } else {
      return static_cast<Accumulator<kDType>>(leaf);
    }
  }

  template <class A, class T>
  SHOAL_INLINE static A Term(T x, T y) {
    if constexpr (std::unsigned_integral<T>) {
      return static_cast<A>(Wide<T>{x} * Wide<T>{y});
    } else if constexpr (std::same_as<T, Bool8>) {
      return static_cast<A>(IsTrue(Times(x, y)));
    } else {
      return Times(x, y);
    }
  }
};

constexpr ReduceCodes kSum = MakeReduceCodes<OpIndex("sum"), Sum>();
constexpr ReduceCodes kProduct = MakeReduceCodes<OpIndex("prod"), Product>();
constexpr ReduceCodes kDot = MakeReduceCodes<OpIndex("dot"), Dot>();
const ReduceCodes& SumCodes() { return kSum; }
const ReduceCodes& ProductCodes() { return kProduct; }
const ReduceCodes& DotCodes() { return kDot; }

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

HWY_EXPORT(SumCodes);
HWY_EXPORT(ProductCodes);
HWY_EXPORT(DotCodes);

template <>
const ReduceCodes& ReduceCodeOf<OpIndex("sum")>() {
  return HWY_DYNAMIC_DISPATCH(SumCodes)();
}
template <>
const ReduceCodes& ReduceCodeOf<OpIndex("prod")>() {
  return HWY_DYNAMIC_DISPATCH(ProductCodes)();
}
template <>
const ReduceCodes& ReduceCodeOf<OpIndex("dot")>() {
  return HWY_DYNAMIC_DISPATCH(DotCodes)();
}

}  // namespace shoal::kernels::cpu
#endif
