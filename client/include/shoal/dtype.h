#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

/// The element types of arrays. The numbers are the wire's (`shoal.v1.Dtype`). A new one is a line
/// here and a row of `internal::kDtypeTable` below.
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

/// The value, which is exact.
float ToFloat(Float16 value);
float ToFloat(Bfloat16 value);

/// True for types that hold an element's bits because C++ has no type for its value: `ToFloat`
/// tells that.
template <typename T>
inline constexpr bool kIsBits = std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>;

namespace internal {

/// What the client knows of a dtype whose elements are of type T.
template <typename T>
struct DtypeRow {
  Dtype dtype;
  absl::string_view name;  ///< NumPy's, and the wire's in lower case.
  absl::string_view npy;   ///< Kind and item size as `.npy` files have them, without byte order.
};

/// Every dtype, in the order of the numbers: the client's one table of them.
inline constexpr std::tuple kDtypeTable = {
    DtypeRow<bool>{Dtype::kBool, "bool", "b1"},
    DtypeRow<int8_t>{Dtype::kInt8, "int8", "i1"},
    DtypeRow<int16_t>{Dtype::kInt16, "int16", "i2"},
    DtypeRow<int32_t>{Dtype::kInt32, "int32", "i4"},
    DtypeRow<int64_t>{Dtype::kInt64, "int64", "i8"},
    DtypeRow<uint8_t>{Dtype::kUint8, "uint8", "u1"},
    DtypeRow<uint16_t>{Dtype::kUint16, "uint16", "u2"},
    DtypeRow<uint32_t>{Dtype::kUint32, "uint32", "u4"},
    DtypeRow<uint64_t>{Dtype::kUint64, "uint64", "u8"},
    DtypeRow<Float16>{Dtype::kFloat16, "float16", "f2"},
    DtypeRow<Bfloat16>{Dtype::kBfloat16, "bfloat16", "V2"},
    DtypeRow<float>{Dtype::kFloat32, "float32", "f4"},
    DtypeRow<double>{Dtype::kFloat64, "float64", "f8"},
    DtypeRow<std::complex<float>>{Dtype::kComplex64, "complex64", "c8"},
    DtypeRow<std::complex<double>>{Dtype::kComplex128, "complex128", "c16"},
};

/// The table without the types, for those who look up a number or a name.
struct DtypeEntry {
  Dtype dtype;
  absl::string_view name;
  absl::string_view npy;
  int64_t item_bytes;
};
inline constexpr auto kDtypeEntries = std::apply(
    []<typename... T>(const DtypeRow<T>&... rows) {
      return std::array{DtypeEntry{rows.dtype, rows.name, rows.npy, int64_t{sizeof(T)}}...};
    },
    kDtypeTable);

static_assert(
    [] {
      for (size_t i = 0; i < kDtypeEntries.size(); ++i) {
        if (static_cast<size_t>(kDtypeEntries[i].dtype) != i + 1) return false;
      }
      return true;
    }(),
    "rows in the order of the numbers, none left out");

/// The entry of a dtype, or null: a number that the caller made up.
constexpr const DtypeEntry* FindDtype(Dtype dtype) {
  const size_t number = static_cast<size_t>(dtype);
  return number - 1 < kDtypeEntries.size() ? &kDtypeEntries[number - 1] : nullptr;
}

template <typename T>
constexpr std::optional<Dtype> FindDtypeOf() {
  std::optional<Dtype> found;
  std::apply(
      [&found]<typename... Element>(const DtypeRow<Element>&... rows) {
        ((std::is_same_v<T, Element> ? void(found = rows.dtype) : void()), ...);
      },
      kDtypeTable);
  return found;
}

/// Ends the process: the caller's number is no dtype.
[[noreturn]] void NoSuchDtype();

}  // namespace internal

/// The dtype whose elements are of type T, or nothing.
template <typename T>
inline constexpr std::optional<Dtype> kDtypeOf = internal::FindDtypeOf<T>();

/// Calls `function` with the C++ type of the dtype's elements, as `std::type_identity<T>`, and
/// returns what it returns, which is of one type for all dtypes. Precondition: one of the
/// enumerators.
///
///     const size_t alignment = shoal::VisitDtype(
///         array.dtype(), []<typename T>(std::type_identity<T>) { return alignof(T); });
template <typename Function>
auto VisitDtype(Dtype dtype, Function&& function) {
  if (internal::FindDtype(dtype) == nullptr) internal::NoSuchDtype();
  return std::apply(
      [&]<typename... T>(const internal::DtypeRow<T>&...) {
        using Result = std::invoke_result_t<Function&, std::type_identity<bool>>;
        using Call = Result (*)(Function&);
        constexpr std::array<Call, sizeof...(T)> kCalls = {
            [](Function& call) -> Result { return call(std::type_identity<T>{}); }...};
        return kCalls[static_cast<size_t>(dtype) - 1](function);
      },
      internal::kDtypeTable);
}

/// Bytes of one element; 0 for a number that is no dtype.
int64_t ItemBytes(Dtype dtype);

/// NumPy's name: "float32", "bool". Empty for a number that is no dtype.
absl::string_view DtypeName(Dtype dtype);

/// The dtype of that name, or nothing.
std::optional<Dtype> DtypeByName(absl::string_view name);

/// The extent of each axis; empty for a scalar (one element). An extent of 0 is legal and kept.
using Shape = std::vector<int64_t>;

/// Elements in an array of that shape.
///
/// Errors:
///   INVALID_ARGUMENT  a negative extent, more than 32 axes, or 2^63 elements and more.
absl::StatusOr<int64_t> ElementCount(const Shape& shape);

/// Bytes of an array: element count x `ItemBytes`.
///
/// Errors:
///   INVALID_ARGUMENT  as `ElementCount`, 2^63 bytes and more, or a number that is no dtype.
absl::StatusOr<int64_t> ByteCount(Dtype dtype, const Shape& shape);

}  // namespace shoal
