#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/cpu/arrays.h"

// The total order of kernels/sort.h, element by element and by definition, for sort and merge.
namespace shoal::kernels::cpu {

inline constexpr DType kRealTypes[] = {
    DType::kBool,     DType::kInt8,    DType::kInt16,  DType::kInt32,  DType::kInt64,
    DType::kUint8,    DType::kUint16,  DType::kUint32, DType::kUint64, DType::kFloat16,
    DType::kBfloat16, DType::kFloat32, DType::kFloat64};

/// True when `a` must stand before `b`; equal numbers and all NaNs are equivalent, zeros are not.
inline bool StandsBefore(DType dtype, const Bytes& a, const Bytes& b) {
  if (!IsFloat(dtype)) {
    const uint64_t x = LoadInteger(dtype, a.data());
    const uint64_t y = LoadInteger(dtype, b.data());
    return IsSigned(dtype) ? static_cast<int64_t>(x) < static_cast<int64_t>(y) : x < y;
  }
  const double x = LoadFloat(dtype, a.data());
  const double y = LoadFloat(dtype, b.data());
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x);
  if (x == 0 && y == 0) return std::signbit(x) && !std::signbit(y);
  return x < y;
}

inline std::vector<Bytes> Elements(DType dtype, const Bytes& array) {
  std::vector<Bytes> elements;
  const auto item = static_cast<std::ptrdiff_t>(ItemBytes(dtype));
  for (auto at = array.begin(); at != array.end(); at += item) elements.emplace_back(at, at + item);
  return elements;
}

/// In order, and the same elements, bit for bit, as those of `original`.
inline bool IsSortedFormOf(DType dtype, const Bytes& sorted, const Bytes& original) {
  std::vector<Bytes> after = Elements(dtype, sorted);
  for (size_t i = 0; i + 1 < after.size(); ++i) {
    const bool both_nan = IsFloat(dtype) && std::isnan(LoadFloat(dtype, after[i].data())) &&
                          std::isnan(LoadFloat(dtype, after[i + 1].data()));
    if (!both_nan && StandsBefore(dtype, after[i + 1], after[i])) return false;
  }
  std::vector<Bytes> before = Elements(dtype, original);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  return before == after;
}

}  // namespace shoal::kernels::cpu
