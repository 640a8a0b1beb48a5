#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/collective/communicator.h"

// What every backend checks before it moves anything, so that all refuse the same calls in the
// same words.
namespace shoal::collective {

/// What one rank brings to a call, in bytes. A side that is not used is ignored, whatever is there.
struct RankLayout {
  bool uses_send = false;
  bool uses_recv = false;
  int64_t send_bytes = 0;
  int64_t recv_bytes = 0;
  /// Where the smaller side lies inside the larger one when the call is in place; -1: never is.
  int64_t in_place_offset = -1;
};

/// Bytes before block `rank` of ragged `counts`.
int64_t BlockOffset(const Args& args, int rank);

/// The layout of `rank`, for arguments that passed CheckArgs.
RankLayout LayoutOf(Operation operation, const Args& args, int size, int rank);

/// Checks what all ranks of a group of `size` say alike.
///
/// Errors:
///   INVALID_ARGUMENT  wrong number of counts, a negative one, 2^63 bytes or more in all, a root
///                     outside the group, or a reduction that the dtype does not have.
absl::Status CheckArgs(Operation operation, const Args& args, int size);

/// Checks the buffers of one rank, for arguments that passed CheckArgs.
///
/// Errors:
///   INVALID_ARGUMENT  a size that does not fit, an overlap that is not the in-place one, or, for
///                     reductions, data that is not aligned to its element; names the rank.
absl::Status CheckRank(Operation operation, const Args& args, int size, int rank,
                       const RankBuffers& buffers);

/// Compares the arguments of `rank` with those of rank 0.
///
/// Errors:
///   INVALID_ARGUMENT  they differ; names the rank and what differs.
absl::Status CheckSame(Operation operation, const Args& first, Operation other_operation,
                       const Args& other, int rank);

}  // namespace shoal::collective
