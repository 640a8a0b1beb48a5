#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"

namespace shoal::kernels {

/// The element types of arrays. The numbers are the wire's (`shoal.v1.Dtype`).
enum class DType : uint8_t {
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

inline constexpr std::array<DType, 15> kAllDTypes = {
    DType::kBool,     DType::kInt8,    DType::kInt16,   DType::kInt32,     DType::kInt64,
    DType::kUint8,    DType::kUint16,  DType::kUint32,  DType::kUint64,    DType::kFloat16,
    DType::kBfloat16, DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128};

/// What kind of values a dtype holds.
enum class DTypeClass : uint8_t { kBool, kSigned, kUnsigned, kFloat, kComplex };

/// The class of a dtype: the one place that tells integers from floats. Its switch is total, so a
/// new dtype does not build until it is classified here.
constexpr DTypeClass ClassOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return DTypeClass::kBool;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return DTypeClass::kSigned;
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return DTypeClass::kUnsigned;
    case DType::kFloat16:
    case DType::kBfloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      return DTypeClass::kFloat;
    case DType::kComplex64:
    case DType::kComplex128:
      return DTypeClass::kComplex;
  }
  SHOAL_UNREACHABLE("dtype out of range");
}

constexpr bool IsSignedInteger(DType dtype) { return ClassOf(dtype) == DTypeClass::kSigned; }
constexpr bool IsUnsignedInteger(DType dtype) { return ClassOf(dtype) == DTypeClass::kUnsigned; }
constexpr bool IsComplex(DType dtype) { return ClassOf(dtype) == DTypeClass::kComplex; }

/// Bytes of one element.
constexpr int64_t ItemBytes(DType dtype) {
  constexpr std::array<int8_t, 16> kBytes = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return kBytes[static_cast<size_t>(dtype)];
}

/// Stored in 16 bits and computed in float32: float16 or bfloat16, which is all that the places
/// that ask tell apart. A third narrow float has to visit each of them.
constexpr bool IsHalf(DType dtype) {
  return ClassOf(dtype) == DTypeClass::kFloat && ItemBytes(dtype) == 2;
}

/// The natural alignment of an element, in bytes: its size; of a complex number that of one part.
constexpr int64_t ItemAlignment(DType dtype) {
  return IsComplex(dtype) ? ItemBytes(dtype) / 2 : ItemBytes(dtype);
}

/// NumPy's name: "float32", "bool".
constexpr std::string_view Name(DType dtype) {
  constexpr std::array<std::string_view, 16> kNames = {
      "",       "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",
      "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
  return kNames[static_cast<size_t>(dtype)];
}

static_assert(
    [] {
      for (size_t i = 0; i < kAllDTypes.size(); ++i) {
        const DType dtype = kAllDTypes[i];
        const bool listed = static_cast<size_t>(dtype) == i + 1;  // In order, without a gap.
        if (!listed || ItemBytes(dtype) == 0 || Name(dtype).empty()) return false;
        if (ClassOf(dtype) > DTypeClass::kComplex) return false;
      }
      return true;
    }(),
    "every dtype has its place, its size, its name and its class");

/// The dtype of that name, or nothing.
constexpr std::optional<DType> DTypeByName(std::string_view name) {
  for (const DType dtype : kAllDTypes) {
    if (Name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

/// The dtype of that wire number, or nothing: for numbers that come from a peer.
constexpr std::optional<DType> DTypeByNumber(int64_t number) {
  if (number < 1 || number > int64_t{kAllDTypes.size()}) return std::nullopt;
  return static_cast<DType>(number);
}

}  // namespace shoal::kernels
