#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/time.h"
#include "kernels/program/plan.h"
#include "kernels/registry.h"
#include "server/plan/call.h"

namespace shoal::plan {

/// A call whose arguments are known: what it gives, and how.
struct TypedCall {
  absl::InlinedVector<ArrayType, 1> outputs;
  kernels::program::Plan plan;  ///< No steps: of an op that moves its arguments.
};

/// Types the call for arguments of these types, in their order.
///
/// Errors:
///   INVALID_ARGUMENT    wrong number of arguments, shapes that do not fit each other, a parameter
///                       that is not a value of its dtype, sort of a scalar.
///   UNIMPLEMENTED       not built for these dtypes.
///   RESOURCE_EXHAUSTED  a limit of programs.
absl::StatusOr<TypedCall> TypeCall(const Call& call, absl::Span<const ArrayType> inputs);

/// Errors: INVALID_ARGUMENT  not as many arguments as the op takes.
absl::Status CheckArity(const kernels::OpInfo& op, size_t argument_count);

/// Time that one core needs for `elements` of the op, roughly: what decides whether a call is run
/// at once or cut into pieces.
Duration EstimateCost(const kernels::OpInfo& op, int64_t elements);

/// The same for elements of a step's domain.
Duration EstimateCost(const kernels::program::Step& step, int64_t elements);

}  // namespace shoal::plan
