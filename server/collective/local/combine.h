#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/collective/communicator.h"

namespace shoal::collective {

/// Reduces `count` elements of each source into `target`, in order: ((s0 op s1) op s2) ...
///
/// Integers wrap; booleans are 0 or 1; 16-bit floats are combined in float32 and rounded once, to
/// nearest even; minima and maxima of anything with a NaN are NaN.
/// `target` overlaps no source. There is at least one source.
/// Requires: IsDefined(op, dtype); pointers aligned to the element (complex: to its half).
/// Cost: on this thread, in cache for up to kCombineElementsMax elements.
void Combine(kernels::DType dtype, ReduceOp op, absl::Span<const std::byte* const> sources,
             std::byte* target, int64_t count);

/// The most elements one call takes.
inline constexpr int64_t kCombineElementsMax = 2048;

}  // namespace shoal::collective
