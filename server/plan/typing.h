#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/time.h"
#include "kernels/registry.h"
#include "server/plan/call.h"

namespace shoal::plan {

/// The types of an op's outputs: one, but for echo, which gives back each input.
///
/// Shapes of two-input ops must be equal, or one of them has a single element and is broadcast.
///
/// Errors:
///   INVALID_ARGUMENT  shapes that do not fit each other, sort of a scalar.
///   UNIMPLEMENTED     not built for these dtypes, mixed dtypes, or broadcasting of other shapes.
absl::StatusOr<absl::InlinedVector<ArrayType, 1>> OutputTypes(const kernels::OpInfo& op,
                                                              absl::Span<const ArrayType> inputs);

/// Errors: INVALID_ARGUMENT  not as many arguments as the op takes.
absl::Status CheckArity(const kernels::OpInfo& op, size_t argument_count);

/// Time that one core needs for `elements` of the op, roughly: what decides whether a call is run
/// at once or cut into pieces.
Duration EstimateCost(const kernels::OpInfo& op, int64_t elements);

}  // namespace shoal::plan
