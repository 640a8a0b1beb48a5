#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shoal/dtype.h"

namespace shoal::cli {

/// Turns the bytes of every number around, in place; both halves of a complex one by themselves.
/// One-byte types stay as they are.
void SwapByteOrder(Dtype dtype, std::span<std::byte> data);

/// Copies an array from Fortran order (first axis fastest) to C order (last axis fastest).
///
/// Both spans have item_bytes x product(shape) bytes and do not overlap; item_bytes is 1, 2, 4, 8
/// or 16. Works in tiles of the first and the last axis, so that both sides stay in the cache.
struct Reorder {
  std::span<const std::byte> from;
  std::span<std::byte> to;
};
void FortranToC(const Shape& shape, int64_t item_bytes, const Reorder& reorder);

/// Makes every byte that is not 0 a 1, as NumPy reads a bool.
void NormaliseBools(std::span<std::byte> data);

}  // namespace shoal::cli
