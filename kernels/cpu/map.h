#pragma once

#include <cstdint>

#include "kernels/map.h"
#include "kernels/registry.h"

namespace shoal::kernels::cpu {

/// How an output is written.
enum class Stores : uint8_t {
  kCached,  ///< Ordinary stores: the output is likely to be read soon.
  /// Non-temporal stores, around the caches: saves reading the output's lines before they are
  /// overwritten, a quarter to a third of the time of outputs larger than the last-level cache.
  /// Slower for smaller ones.
  kStreaming,
};

/// Applies the elementwise op to one contiguous piece, on the calling thread.
///
/// Bits: depend on the arguments only, not on the instruction set, the stores or how an array was
///   cut into pieces. Arithmetic wraps for integers, is rounded once per op (in the output's dtype)
///   for float16 and bfloat16, never fused, and a NaN result is the canonical quiet NaN.
/// Requires: `op` is an element of AllOps() of form kMap that supports the dtype, its parameters
///   passed ValidateParams, and there are KernelInputs() inputs. Form and dtype are checked.
/// Thread-safety: any number of calls at once, on outputs that do not overlap.
void RunMap(const OpInfo& op, const MapArgs& args, Stores stores = Stores::kCached);

}  // namespace shoal::kernels::cpu
