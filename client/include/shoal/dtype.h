#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

/// The element types of arrays. The numbers are the wire's (`shoal.v1.Dtype`).
enum class Dtype : uint8_t {
  kBool = 1,  ///< One byte, 0 or 1.
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUint8 = 6,
  kUint16 = 7,
  kUint32 = 8,
  kUint64 = 9,
  kFloat16 = 10,
  kBfloat16 = 11,
  kFloat32 = 12,
  kFloat64 = 13,
  kComplex64 = 14,   ///< Two float32: real, imaginary.
  kComplex128 = 15,  ///< Two float64: real, imaginary.
};

/// The extent of each axis; empty for a scalar (one element). An extent of 0 is legal and kept.
using Shape = std::vector<int64_t>;

/// IEEE 754 binary16, as its bits: C++20 has no type for it.
struct Float16 {
  uint16_t bits = 0;
  friend bool operator==(const Float16&, const Float16&) = default;
};

/// The upper half of a float32, as its bits.
struct Bfloat16 {
  uint16_t bits = 0;
  friend bool operator==(const Bfloat16&, const Bfloat16&) = default;
};

/// Bytes of one element.
int64_t ItemBytes(Dtype dtype);

/// NumPy's name: "float32", "bool".
absl::string_view DtypeName(Dtype dtype);

/// The dtype of that name, or nothing.
std::optional<Dtype> DtypeByName(absl::string_view name);

/// Elements in an array of that shape.
///
/// Errors:
///   INVALID_ARGUMENT  a negative extent, more than 32 axes, or 2^63 elements and more.
absl::StatusOr<int64_t> ElementCount(const Shape& shape);

/// Bytes of an array: element count x `ItemBytes`.
///
/// Errors:
///   INVALID_ARGUMENT  as `ElementCount`, or 2^63 bytes and more.
absl::StatusOr<int64_t> ByteCount(Dtype dtype, const Shape& shape);

/// The dtype whose elements are of type T; T must be one of the specialisations below.
template <typename T>
inline constexpr std::optional<Dtype> kDtypeOf = std::nullopt;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<bool> = Dtype::kBool;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<int8_t> = Dtype::kInt8;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<int16_t> = Dtype::kInt16;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<int32_t> = Dtype::kInt32;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<int64_t> = Dtype::kInt64;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<uint8_t> = Dtype::kUint8;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<uint16_t> = Dtype::kUint16;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<uint32_t> = Dtype::kUint32;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<uint64_t> = Dtype::kUint64;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<Float16> = Dtype::kFloat16;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<Bfloat16> = Dtype::kBfloat16;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<float> = Dtype::kFloat32;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<double> = Dtype::kFloat64;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<std::complex<float>> = Dtype::kComplex64;
template <>
inline constexpr std::optional<Dtype> kDtypeOf<std::complex<double>> = Dtype::kComplex128;

}  // namespace shoal
