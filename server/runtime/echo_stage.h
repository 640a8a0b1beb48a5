#pragma once

#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/runtime/engine.h"
#include "server/runtime/operand.h"
#include "server/runtime/stage.h"

namespace shoal::runtime {

/// Where an echo's returned output lies: on route front, where the input lies; else in the
/// workers' memory, scattered in blocks if it is large.
///
/// Errors: RESOURCE_EXHAUSTED  a worker has no room for its part.
absl::StatusOr<Operand> EchoTarget(Engine& engine, plan::Route route, const Operand& input);

/// Copies each input to its output, on route device through a kernel; null where every output
/// lies where its input does.
std::unique_ptr<Stage> MakeEchoStage(const plan::Call& call, absl::InlinedVector<Operand, 2> inputs,
                                     absl::InlinedVector<Operand, 2> outputs);

/// Checks an output whose place in a lease the client chose against the inputs.
///
/// Errors: INVALID_ARGUMENT  it lies partly over one; wholly, or not at all, are fine.
absl::Status CheckOverlap(const Operand& output, absl::Span<const Operand> inputs);

/// Checks an echo's output against the arrays that are not its own.
///
/// Errors: INVALID_ARGUMENT  it lies over one: an input would be overwritten before it was read.
absl::Status CheckApart(const Operand& output, absl::Span<const Operand> others);

}  // namespace shoal::runtime
