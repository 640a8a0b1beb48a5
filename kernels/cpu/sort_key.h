#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/dtype.h"

// Integer keys whose order is the total order of kernels/sort.h. Every mapping is one to one, so
// sorting keys keeps each element's bits, NaN payloads included.
namespace shoal::kernels::cpu {

/// Keys of floats of the width of `Bits`, given as bit patterns; kInfinity is that of +infinity.
///
/// Flipping gives -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN; subtracting the key of -inf
/// turns the -NaNs over to the top.
template <std::unsigned_integral Bits, Bits kInfinity>
struct FloatKey {
  using Stored = Bits;
  using Key = Bits;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  static constexpr Bits kLowest = static_cast<Bits>(~(kSign | kInfinity));

  static constexpr Key ToKey(Stored bits) {
    const Bits flipped = static_cast<Bits>((bits & kSign) != 0 ? ~bits : bits | kSign);
    return static_cast<Key>(flipped - kLowest);
  }
  static constexpr Stored FromKey(Key key) {
    const Bits flipped = static_cast<Bits>(key + kLowest);
    return static_cast<Stored>((flipped & kSign) != 0 ? flipped ^ kSign : ~flipped);
  }
};

/// Keys of integers: themselves, compared as what they are.
template <std::integral T>
struct IntegerKey {
  using Stored = T;
  using Key = T;
  static constexpr Key ToKey(Stored value) { return value; }
  static constexpr Stored FromKey(Key key) { return key; }
};

/// The key mapping of a dtype: `Stored` is how elements are read, `Key` what is compared.
template <DType kDType>
struct SortKeyOf;
template <>
struct SortKeyOf<DType::kBool> : std::type_identity<IntegerKey<uint8_t>> {};
template <>
struct SortKeyOf<DType::kInt8> : std::type_identity<IntegerKey<int8_t>> {};
template <>
struct SortKeyOf<DType::kInt16> : std::type_identity<IntegerKey<int16_t>> {};
template <>
struct SortKeyOf<DType::kInt32> : std::type_identity<IntegerKey<int32_t>> {};
template <>
struct SortKeyOf<DType::kInt64> : std::type_identity<IntegerKey<int64_t>> {};
template <>
struct SortKeyOf<DType::kUint8> : std::type_identity<IntegerKey<uint8_t>> {};
template <>
struct SortKeyOf<DType::kUint16> : std::type_identity<IntegerKey<uint16_t>> {};
template <>
struct SortKeyOf<DType::kUint32> : std::type_identity<IntegerKey<uint32_t>> {};
template <>
struct SortKeyOf<DType::kUint64> : std::type_identity<IntegerKey<uint64_t>> {};
template <>
struct SortKeyOf<DType::kFloat16> : std::type_identity<FloatKey<uint16_t, 0x7c00>> {};
template <>
struct SortKeyOf<DType::kBfloat16> : std::type_identity<FloatKey<uint16_t, 0x7f80>> {};
template <>
struct SortKeyOf<DType::kFloat32> : std::type_identity<FloatKey<uint32_t, 0x7f800000>> {};
template <>
struct SortKeyOf<DType::kFloat64> : std::type_identity<FloatKey<uint64_t, 0x7ff0000000000000>> {};

template <DType kDType>
using SortKey = typename SortKeyOf<kDType>::type;

}  // namespace shoal::kernels::cpu
