#pragma once

#include <cstdint>

#include "kernels/dtype.h"

namespace shoal::kernels {

/// Rows to be sorted in place, each by itself, in the order that the op gives.
///
/// Order of "sort": ascending, NumPy's, made total: -0 before +0, every NaN last. False before
/// true.
struct SortArgs {
  DType dtype = DType::kFloat32;
  void* data = nullptr;      ///< row_count * row_elements elements, row after row.
  int64_t row_count = 0;     ///< 0 is allowed.
  int64_t row_elements = 0;  ///< 0 is allowed.
};

}  // namespace shoal::kernels
