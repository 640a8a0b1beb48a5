#pragma once

#include <cstdint>

#include "kernels/map.h"

namespace shoal::kernels::cpu {

/// How an output is written.
enum class Stores : uint8_t {
  kCached,  ///< Ordinary stores: the output is likely to be read soon.
  /// Non-temporal stores, around the caches: saves reading the output's lines before they are
  /// overwritten, a quarter to a third of the time of outputs larger than the last-level cache.
  /// Slower for smaller ones.
  kStreaming,
};

/// Elements [begin, end) of what MapArgs describes.
struct MapRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Applies the kernel to a part of the output, on the calling thread: the interpreter, which needs
/// no compiler and is what other engines are compared with.
///
/// Block by block: each step's loop runs over as many elements as leave all of a step's operands
/// in the first-level cache, the results in registers of such a block. A kernel of one step on
/// plain arrays is one loop over all.
///
/// Bits: depend on the arguments only, not on the instruction set, the stores or how an array was
///   cut into pieces. Arithmetic wraps for integers, is rounded once per step (in the step's dtype)
///   for float16 and bfloat16, never fused, and a NaN result is the canonical quiet NaN.
/// Requires: a valid kernel, as many inputs, scalars and outputs as it has, and scalars that are
///   values of their dtypes (ValidateParams; floats round).
/// Cost: allocates nothing but a block's registers, once per thread.
/// Thread-safety: any number of calls at once, on outputs that do not overlap.
void RunMap(const MapKernel& kernel, const MapArgs& args, MapRange range,
            Stores stores = Stores::kCached);

}  // namespace shoal::kernels::cpu
