#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "base/time.h"
#include "server/core/id_index.h"
#include "server/core/list.h"
#include "server/core/slab.h"
#include "server/core/timer_wheel.h"
#include "server/worker/events.h"

namespace shoal::worker {

struct Options {
  int64_t memory_bytes = 0;  ///< Limit of stored plus reserved bytes.
  int32_t lanes = 1;         ///< In [1, 64]. Batches of launches that run at once.
  int32_t batch_max = 256;   ///< >= 1. Launches in one batch.
  /// Estimated work in one batch, beyond its first launch. A cost of 0 is unknown: such an attempt
  /// goes alone.
  Duration batch_cost_max = std::chrono::microseconds(100);
  /// How long an attempt waits for stored arrays to go.
  Duration memory_wait = std::chrono::seconds(1);
};

/// What one worker does with the attempts it was given: a pure state machine.
///
/// assigned -> fetching -> waiting for memory -> ready -> running -> gone, and from running also
/// -> cancelling -> gone, since a launch cannot be recalled from a device. States without work are
/// passed through within one event. Memory is reserved in the order in which attempts come to wait
/// for it, and launches are made in the order in which they become ready: attempts without inputs
/// are launched in the order of their assignment, whatever their size.
///
/// Every assignment is reported exactly once, unless the worker dies.
///
/// Events are the driver's promises: one that cannot be (a launch ends that was not made) ends the
/// process. What the scheduler's messages can cause is handled: repeated batches and unknown ids
/// are ignored, a reservation beyond the limit is reported kOutOfMemory.
///
/// Cost: O(1) for each attempt and each change of its state. Allocates only while it grows.
/// Thread-safety: one thread. No clock, no randomness: the same events give the same actions.
class WorkerState {
 public:
  /// What `counts` tells; sums over the core's life are marked so.
  struct Counts {
    int64_t fetching = 0;
    int64_t waiting_for_memory = 0;
    int64_t ready = 0;
    int64_t running = 0;    ///< Launched; those asked to end early included.
    uint64_t launched = 0;  ///< Life sum.
    uint64_t reported = 0;  ///< Life sum.
    uint64_t failed = 0;    ///< Life sum of those of `reported` that failed: see HasFailed.
    uint64_t stale = 0;     ///< Life sum of batches and ids that were ignored.
  };

  explicit WorkerState(const Options& options);

  /// Takes one event at the time `now`, not before the last event's, and appends what is to be
  /// done to `actions`.
  void Handle(Instant now, const Event& event, Actions* actions);

  /// When a `Tick` is next needed if no other event comes; kNever when it is not.
  Instant NextWakeup() const {
    return std::min(deadlines_.NextWakeup(), memory_timers_.NextWakeup());
  }

  const Counts& counts() const { return counts_; }
  int64_t reserved_bytes() const { return reserved_bytes_; }
  int64_t stored_bytes() const { return stored_bytes_; }
  bool draining() const { return draining_; }
  /// No attempt is here in any state: after `Drain`, the moment to leave.
  bool idle() const { return rows_.taken_count() == 0; }

  /// Checks every invariant of docs/scheduling.md; O(everything).
  ///
  /// Errors:
  ///   INTERNAL  one does not hold; the message names it and the record.
  absl::Status Validate() const;

 private:
  enum class Phase : uint8_t {
    kFree,         // The row is not in use.
    kFetching,     // Its inputs are on their way.
    kDropped,      // Reported; its inputs are still on their way and will be released.
    kNeedsMemory,  // In `starved_`.
    kReady,        // Reserved; in `ready_`.
    kRunning,      // On its lane.
    kCancelling,   // On its lane, asked to end early.
  };
  struct Row {
    core::Assignment assignment;
    core::ListLink link;  // In `starved_` or `ready_`.
    int32_t lane = -1;
    Phase phase = Phase::kFree;
    core::AttemptOutcome early = core::AttemptOutcome::kCancelled;  // Why it was interrupted.
    bool has_inputs = false;                                        // Fetched inputs to release.
  };
  using Rows = core::Slab<Row, 6>;  // Small chunks: a process may have many workers.

  void On(const AttemptsAssigned& event);
  void On(const InputsReady& event);
  void On(const MemoryChanged& event);
  void On(const LaunchesEnded& event);
  void On(const AttemptsDropped& event);
  void On(const Drain& event);
  void On(const Tick& event);

  void Take(const core::Assignment& assignment);
  void AwaitMemory(uint32_t row);
  void Reserve(uint32_t row);
  void StopWaiting(uint32_t row);
  void ReservePass();
  void LaunchPass();
  void FillLane(int32_t lane, int64_t share);
  void EndLaunch(const core::AttemptEnd& end);
  void GiveUp(uint32_t row, core::AttemptOutcome outcome);
  void Report(const core::AttemptEnd& end);
  void Leave(uint32_t row);
  bool HasRoom(int64_t reserve_bytes) const;
  bool HasRoomWhenIdle(int64_t reserve_bytes) const;

  // Validation: worker_validate.cc.
  struct Census;
  absl::Status ValidateRow(uint32_t index, Census* census) const;

  Options options_;
  Instant now_{};
  Actions* actions_ = nullptr;  // Of the event being handled.
  Counts counts_;
  bool draining_ = false;
  uint64_t last_batch_ = 0;

  Rows rows_;
  core::IdIndex index_;
  core::List<Rows> starved_;
  core::List<Rows> ready_;
  core::TimerWheel deadlines_;
  core::TimerWheel memory_timers_;  // Of the front of `starved_` at most.
  int64_t stored_bytes_ = 0;
  int64_t reserved_bytes_ = 0;

  std::vector<int32_t> lane_launches_;  // By lane: launches that have not ended.
  uint64_t free_lanes_ = 0;             // Bit l: lane l has none.
};

}  // namespace shoal::worker
