#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shoal::kernels {

/// The element types of arrays. The numbers are the wire's (`shoal.v1.DType`).
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

/// Stored in 16 bits and computed in float32.
constexpr bool IsHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBfloat16; }

constexpr bool IsComplex(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

/// Bytes of one element.
constexpr int64_t ItemBytes(DType dtype) {
  constexpr std::array<int8_t, 16> kBytes = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return kBytes[static_cast<size_t>(dtype)];
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

/// The dtype of that name, or nothing.
constexpr std::optional<DType> DTypeByName(std::string_view name) {
  for (const DType dtype : kAllDTypes) {
    if (Name(dtype) == name) return dtype;
  }
  return std::nullopt;
}

/// The dtype of that wire number, or nothing: for numbers that come from a peer.
constexpr std::optional<DType> DTypeByNumber(int64_t number) {
  if (number < 1 || number > 15) return std::nullopt;
  return static_cast<DType>(number);
}

}  // namespace shoal::kernels
