#pragma once

#include <array>
#include <cstdint>

#include "kernels/dtype.h"
#include "kernels/scalar.h"

namespace shoal::kernels {

inline constexpr int kMapInputsMax = 4;
inline constexpr int kParamsMax = 8;

/// One contiguous piece of an elementwise op.
struct MapArgs {
  DType dtype = DType::kFloat32;
  /// `count` elements each, aligned to their size, or one element where `broadcast` says so.
  std::array<const void*, kMapInputsMax> inputs = {};
  std::array<bool, kMapInputsMax> broadcast = {};
  std::array<Scalar, kParamsMax> params = {};  ///< In the table's order.
  void* output = nullptr;  ///< `count` elements; may be the same memory as an input, exactly.
  int64_t count = 0;       ///< 0 is allowed: nothing is touched.
};

}  // namespace shoal::kernels
