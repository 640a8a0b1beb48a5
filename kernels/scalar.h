#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace shoal::kernels {

/// A number beside the arrays, exactly as the caller gave it. Which kind it is says nothing of
/// what it becomes: as an element of the array it is the same number, or that number rounded.
using Scalar = std::variant<double, int64_t, uint64_t, std::complex<double>>;

/// The number, rounded to float64; of a complex number the real part.
inline double ToDouble(const Scalar& scalar) {
  return std::visit(
      [](auto value) {
        if constexpr (std::is_same_v<decltype(value), std::complex<double>>) {
          return value.real();
        } else {
          return static_cast<double>(value);
        }
      },
      scalar);
}

}  // namespace shoal::kernels
