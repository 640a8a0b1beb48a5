// Conversions between dtypes.
#include "kernels/cpu/cast.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cast.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

template <class T>
concept Integer = std::integral<T>;

// The nearest value of the integer type. Out of its range the conversion itself would be undefined,
// so it is given 0 there.
template <Integer To, std::floating_point From>
SHOAL_INLINE To Saturated(From x) {
  constexpr From kLeast =
      static_cast<From>(std::numeric_limits<To>::min());  // A power of two, or 0.
  constexpr From kBeyond =
      static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * From{2};
  const bool inside = x > kLeast && x < kBeyond;
  const To whole = static_cast<To>(inside ? x : From{0});
  const To limit = x >= kBeyond  ? std::numeric_limits<To>::max()
                   : x <= kLeast ? std::numeric_limits<To>::min()
                                 : To{0};
  return inside ? whole : limit;
}

// As a float64 whose bits beyond the first 53 are or-ed into the last: rounded from there, once, to
// any narrower float, it is as if it had been rounded directly.
SHOAL_INLINE double ToOdd(uint64_t magnitude) {
  constexpr uint64_t kRest = (uint64_t{1} << 11) - 1;
  const uint64_t sticky = (magnitude & kRest) != 0 ? kRest + 1 : 0;
  const bool large = magnitude >> 53 != 0;
  return static_cast<double>(large ? (magnitude & ~kRest) | sticky : magnitude);
}

// What is rounded to a half, before that.
template <class From>
SHOAL_INLINE double Exactly(From x) {
  if constexpr (std::signed_integral<From>) {
    const auto bits = static_cast<uint64_t>(int64_t{x});
    return x < 0 ? -ToOdd(Negated(bits)) : ToOdd(bits);
  } else if constexpr (std::unsigned_integral<From>) {
    return ToOdd(x);
  } else {
    return static_cast<double>(x);
  }
}

template <class To, class From>
SHOAL_INLINE To Converted(From x) {
  if constexpr (kIsComplex<From> && kIsComplex<To>) {
    using Part = decltype(To::re);
    return {static_cast<Part>(x.re), static_cast<Part>(x.im)};
  } else if constexpr (std::same_as<To, Bool8>) {
    if constexpr (kIsComplex<From>) {
      return ToBool8((x.re != 0) | (x.im != 0));
    } else if constexpr (std::same_as<From, Bool8>) {
      return ToBool8(IsTrue(x));
    } else {
      return ToBool8(x != 0);
    }
  } else if constexpr (kIsComplex<From>) {
    return Converted<To>(x.re);
  } else if constexpr (std::same_as<From, Bool8>) {
    return Converted<To>(static_cast<uint8_t>(IsTrue(x)));
  } else if constexpr (kIsComplex<To>) {
    using Part = decltype(To::re);
    return {static_cast<Part>(x), Part{0}};
  } else if constexpr (std::same_as<To, Float16>) {
    return {DoubleToFloat16(Exactly(x))};
  } else if constexpr (std::same_as<To, Bfloat16>) {
    return {DoubleToBfloat16(Exactly(x))};
  } else if constexpr (Integer<To> && std::floating_point<From>) {
    return Saturated<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// `To` is the dtype's stored type: a half is rounded as one and leaves as a float32.
template <class From, class To>
void Cast(const MapBlock& block) {
  const auto* from = static_cast<const From*>(block.inputs[0]);
  if constexpr (std::same_as<To, Float16> || std::same_as<To, Bfloat16>) {
    auto* to = static_cast<float*>(block.output);
    SHOAL_NO_LOOP_CARRIED_DEPENDENCES
    for (int64_t i = 0; i < block.count; ++i) to[i] = Canonical(Widen(Converted<To>(from[i])));
  } else {
    auto* to = static_cast<To*>(block.output);
    SHOAL_NO_LOOP_CARRIED_DEPENDENCES
    for (int64_t i = 0; i < block.count; ++i) to[i] = Canonical(Converted<To>(from[i]));
  }
}

using Casts = std::array<std::array<MapLoop, kDTypeSlots>, kDTypeSlots>;

template <size_t kFrom, size_t kTo>
constexpr void FillCast(Casts& casts) {
  casts[static_cast<size_t>(kAllDTypes[kFrom])][static_cast<size_t>(kAllDTypes[kTo])] =
      &Cast<Element<kAllDTypes[kFrom]>, Stored<kAllDTypes[kTo]>>;
}

constexpr Casts MakeCasts() {
  Casts casts = {};
  constexpr size_t kCount = kAllDTypes.size();
  [&casts]<size_t... kPairs>(std::index_sequence<kPairs...>) {
    (FillCast<kPairs / kCount, kPairs % kCount>(casts), ...);
  }
  (std::make_index_sequence<kCount * kCount>());
  return casts;
}

constexpr Casts kCasts = MakeCasts();
const Casts& AllCasts() { return kCasts; }

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

HWY_EXPORT(AllCasts);

MapLoop CastLoop(DType from, DType to) {
  return HWY_DYNAMIC_DISPATCH(AllCasts)()[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

}  // namespace shoal::kernels::cpu
#endif
