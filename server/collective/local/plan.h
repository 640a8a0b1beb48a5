#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/collective/communicator.h"

namespace shoal::collective {

/// The same bytes to one or more places.
struct CopyStep {
  const std::byte* source = nullptr;
  int64_t bytes = 0;
  absl::InlinedVector<std::byte*, 4> targets;  ///< Those that are not the source itself.
};

/// An element-wise reduction of one block of all ranks, to one or more places.
struct ReduceStep {
  int64_t bytes = 0;
  absl::InlinedVector<const std::byte*, 4> sources;  ///< In rank order.
  absl::InlinedVector<std::byte*, 4> targets;
};

/// What has to happen in memory for one call when all ranks are in this process.
struct Plan {
  kernels::DType dtype = kernels::DType::kUint8;
  ReduceOp op = ReduceOp::kSum;
  absl::InlinedVector<CopyStep, 4> copies;
  absl::InlinedVector<ReduceStep, 1> reductions;

  /// Bytes written, and for reductions those read, too.
  int64_t MovedBytes() const;
};

/// The plan of a call whose arguments and buffers passed collective/check.h. `ranks` is all of
/// the group, in rank order. What lies in its place already is in no step's targets.
Plan MakePlan(Operation operation, const Args& args, absl::Span<const RankBuffers> ranks);

/// Looks for memory that is written and is anything else in the same call, beyond what a single
/// rank's check can see.
///
/// Errors:
///   INVALID_ARGUMENT  there is some; names the rank that owns the written buffer.
absl::Status CheckOverlaps(const Plan& plan, absl::Span<const RankBuffers> ranks);

}  // namespace shoal::collective
