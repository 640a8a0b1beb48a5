#pragma once

#include <optional>
#include <vector>

#include "kernels/map.h"
#include "kernels/shape.h"

// NumPy's broadcasting: from the last axis backwards, extents are equal or one of them is 1; axes
// that one shape does not have count as 1.
namespace shoal::kernels {

/// The shape that arrays of both are broadcast to; nothing where they do not fit, or where it would
/// have 2^63 elements or more.
std::optional<Shape> Broadcast(const Shape& a, const Shape& b);

/// The axes of `output` as an array of shape `input`, in C order, sees them, as few as possible:
/// what MapInput takes. Empty where element i goes with element i.
///
/// Requires: `input` is broadcast to `output`.
std::vector<BroadcastAxis> BroadcastAxes(const Shape& input, const Shape& output);

}  // namespace shoal::kernels
