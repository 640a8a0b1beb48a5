#pragma once

#include <memory>
#include <vector>

#include "server/collective/communicator.h"
#include "server/threads/team.h"

namespace shoal::collective {

struct LocalGroupOptions {
  /// Members and the number of ranks each owns, in rank order. {4} is one owner that speaks for
  /// four ranks; {1, 1} is two threads with one rank each.
  std::vector<int> ranks_per_member;
  /// The threads that large copies are spread over; borrowed, outlives the group. Null: none.
  /// One helper a core: a call that was handed over has no caller that works along.
  threads::Team* team = nullptr;
  /// Calls that move at least this are shared out over `team`. Below, the bytes sit in a cache,
  /// where one core is as fast as two and waking the second costs more than it brings (measured
  /// by bench/micro).
  int64_t spread_bytes_min = int64_t{8} << 20;
  /// Calls that move more than this are handed to `team`, so that an event loop is not held up;
  /// others run on the thread that completes the group's arrival. What is not worth a second core
  /// is not worth a cold one: handed over, 6 MiB took 1.6 times as long as copied where they lay.
  int64_t inline_bytes_max = int64_t{8} << 20;
};

/// A group whose ranks are all in this process: one Communicator a member, in order. Each may be
/// used, and destroyed, on its own thread.
///
/// The host moves the bytes: every device is host-addressable, at least while a stream of it is
/// paused. Other devices need a group of their own (NCCL).
///
/// Moves: each byte that is not yet in its place is copied once (`CopyBytes`). A block that
/// already lies where it should (its owner received a view of the other's memory) is not moved.
/// Reductions: rank order: ((x0 op x1) op x2) ...
/// Destroying a member with calls pending breaks the group as `Abort` does.
std::vector<std::unique_ptr<Communicator>> MakeLocalGroup(const LocalGroupOptions& options);

}  // namespace shoal::collective
