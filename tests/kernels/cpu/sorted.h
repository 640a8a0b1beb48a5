#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/kernels/cpu/arrays.h"

// The total order of kernels/sort.h, element by element and by definition, for sort and merge.
namespace shoal::kernels::cpu {

inline constexpr DType kRealTypes[] = {
    DType::kBool,     DType::kInt8,    DType::kInt16,  DType::kInt32,  DType::kInt64,
    DType::kUint8,    DType::kUint16,  DType::kUint32, DType::kUint64, DType::kFloat16,
    DType::kBfloat16, DType::kFloat32, DType::kFloat64};

/// Each element's bits, zero-extended.
inline std::vector<uint64_t> Elements(DType dtype, const Bytes& array) {
  const auto item = static_cast<size_t>(ItemBytes(dtype));
  std::vector<uint64_t> elements(array.size() / item);
  for (size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(&elements[i], array.data() + i * item, item);
  }
  return elements;
}

/// True when `a` must stand before `b`; equal numbers and all NaNs are equivalent, zeros are not.
inline bool StandsBefore(DType dtype, uint64_t a, uint64_t b) {
  const auto* a_bytes = reinterpret_cast<const std::byte*>(&a);
  const auto* b_bytes = reinterpret_cast<const std::byte*>(&b);
  if (!IsFloat(dtype)) {
    const uint64_t x = LoadInteger(dtype, a_bytes);
    const uint64_t y = LoadInteger(dtype, b_bytes);
    return IsSigned(dtype) ? static_cast<int64_t>(x) < static_cast<int64_t>(y) : x < y;
  }
  const double x = LoadFloat(dtype, a_bytes);
  const double y = LoadFloat(dtype, b_bytes);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x);
  if (x == 0 && y == 0) return std::signbit(x) && !std::signbit(y);
  return x < y;
}

/// In order, and the same elements, bit for bit, as those of `original`.
inline bool IsSortedFormOf(DType dtype, const Bytes& sorted, const Bytes& original) {
  std::vector<uint64_t> after = Elements(dtype, sorted);
  bool nans = false;
  for (size_t i = 0; i + 1 < after.size(); ++i) {
    nans =
        nans ||
        (IsFloat(dtype) &&
         std::isnan(LoadFloat(dtype, sorted.data() + static_cast<int64_t>(i) * ItemBytes(dtype))));
    const bool next_is_nan =
        IsFloat(dtype) && std::isnan(LoadFloat(dtype, sorted.data() + static_cast<int64_t>(i + 1) *
                                                                          ItemBytes(dtype)));
    if (nans ? !next_is_nan : StandsBefore(dtype, after[i + 1], after[i])) return false;
  }
  std::vector<uint64_t> before = Elements(dtype, original);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  return before == after;
}

}  // namespace shoal::kernels::cpu
