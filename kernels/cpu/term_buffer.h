#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/dtype.h"
#include "kernels/map.h"
#include "kernels/reduce.h"

// What a kernel makes for a fold goes through memory that stays in the second-level cache.
namespace shoal::kernels::cpu {

inline constexpr int64_t kTermBufferElements = 16 * kLeafElements;

/// One buffer for each input that a reduction may have.
using TermBuffers = std::array<void*, 2>;

/// The calling thread's, of kTermBufferElements elements of any dtype, aligned to cache lines. Each
/// call gives the same ones.
TermBuffers TermBuffersOfThread();

/// Where an output has to begin for its element `begin` to come to `buffer`. No memory but the
/// buffer is to be touched through it.
inline void* OutputBegin(void* buffer, int64_t begin, DType dtype) {
  const auto address = reinterpret_cast<uintptr_t>(buffer);
  return reinterpret_cast<void*>(address - static_cast<uintptr_t>(begin * ItemBytes(dtype)));
}

/// Whether the kernel only passes its inputs on, each element in its place: a fold may read them
/// where they lie.
bool PassesOn(const MapKernel& kernel, const MapArgs& args);

}  // namespace shoal::kernels::cpu
