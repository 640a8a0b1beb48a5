#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace shoal::bench {

/// A piece of memory traffic that computes next to nothing.
struct StreamBlock {
  int inputs = 1;  ///< 1 or 2.
  std::array<const std::byte*, 2> input = {};
  int64_t input_bytes = 0;      ///< Of each.
  std::byte* output = nullptr;  ///< 64-byte aligned.
  int64_t output_bytes = 0;     ///< input_bytes times or divided by 1, 2, 4 or 8.
  bool around_caches = false;   ///< Non-temporal stores.
};

/// Reads the inputs and writes the output, both from one end to the other, with the widest vectors
/// that the processor has. What it writes depends on what it reads, but on nothing of interest.
void MoveBlock(const StreamBlock& block);

/// Reads the inputs only.
void ReadBlock(const StreamBlock& block);

}  // namespace shoal::bench
