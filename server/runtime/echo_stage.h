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
/// Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<Operand> EchoTarget(Engine& engine, plan::Route route, const Operand& input);

/// Copies each input to its output, on route device through a kernel; null where every output
/// lies where its input does.
std::unique_ptr<Stage> MakeEchoStage(const plan::Call& call, absl::InlinedVector<Operand, 2> inputs,
                                     absl::InlinedVector<Operand, 2> outputs,
                                     const Workers& workers);

/// Whether an output written by the client's wish lies partly over an input: wholly, or not at
/// all, are fine.
///
/// Errors: INVALID_ARGUMENT.
absl::Status CheckOverlap(const Operand& output, absl::Span<const Operand> inputs);

/// Whether an echo's output lies over an array that is not its own: another's input would be
/// overwritten before it was read.
///
/// Errors: INVALID_ARGUMENT.
absl::Status CheckApart(const Operand& output, absl::Span<const Operand> others);

}  // namespace shoal::runtime
