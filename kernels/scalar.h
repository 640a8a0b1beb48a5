#pragma once

#include <cstdint>
#include <variant>

namespace shoal::kernels {

/// A number beside the arrays, exactly as the caller gave it. Which kind it is says nothing of
/// what it becomes: as an element of the array it is the same number, or that number rounded.
using Scalar = std::variant<double, int64_t, uint64_t>;

/// The number, rounded to float64.
inline double ToDouble(const Scalar& scalar) {
  return std::visit([](auto value) { return static_cast<double>(value); }, scalar);
}

}  // namespace shoal::kernels
