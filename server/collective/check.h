#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/collective/communicator.h"

// What every backend checks before it moves anything, so that all refuse the same calls in the
// same words.
namespace shoal::collective {

/// One call as all ranks of a group of `size` describe it. Borrows the arguments.
struct CallView {
  Operation operation = Operation::kBarrier;
  const Args* args = nullptr;
  int size = 1;
};

/// What one rank brings to a call, in bytes. A side that is not used is ignored, whatever is there.
struct RankLayout {
  bool uses_send = false;
  bool uses_recv = false;
  int64_t send_bytes = 0;
  int64_t recv_bytes = 0;
  /// Where the smaller side lies inside the larger one when the call is in place; -1: never is.
  int64_t in_place_offset = -1;
};

/// The layout of `rank`, for arguments that passed CheckArgs.
RankLayout LayoutOf(const CallView& call, int rank);

/// Checks what all ranks say alike.
///
/// Errors:
///   INVALID_ARGUMENT  wrong number of counts, a negative one, 2^63 bytes or more in all, a root
///                     outside the group, or a reduction that the dtype does not have.
absl::Status CheckArgs(const CallView& call);

/// Checks the buffers of one rank, for arguments that passed CheckArgs.
///
/// Errors:
///   INVALID_ARGUMENT  a size that does not fit, an overlap that is not the in-place one, or, for
///                     reductions, data that is not aligned to its element; names the rank.
absl::Status CheckRank(const CallView& call, int rank, const RankBuffers& buffers);

/// Compares what `rank` says of a call with what rank 0 says.
///
/// Errors:
///   INVALID_ARGUMENT  they differ; names the rank and what differs.
absl::Status CheckSame(const CallView& first_call, const CallView& other_call, int rank);

}  // namespace shoal::collective
