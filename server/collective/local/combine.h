#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/collective/communicator.h"

namespace shoal::collective {

/// The most elements one call of Combine takes.
inline constexpr int64_t kCombineElementsMax = 2048;

/// Reduces the elements of all sources into `target`, in order: ((s0 op s1) op s2) ...
///
/// Shape: `target` is whole elements, at most kCombineElementsMax; each source has as many.
/// Integers wrap; 16-bit floats are combined in float32 and rounded once, to nearest even; minima
/// and maxima of anything with a NaN are NaN. Any byte of a bool but 0 is true, and results are 0
/// or 1. A single source is copied as it is.
/// Requires: at least one source, none of which overlaps `target`; IsDefined(op, dtype); pointers
///   aligned to the element (complex: to its half).
/// Cost: one pass over each source, on this thread, in cache.
void Combine(kernels::DType dtype, ReduceOp op, absl::Span<const std::byte* const> sources,
             device::Span target);

}  // namespace shoal::collective
