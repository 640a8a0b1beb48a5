#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "base/ids.h"
#include "base/time.h"
#include "server/core/attempt.h"

// What goes into the scheduler core and what comes out. Spans of events are borrowed: they need to
// live only for the call of `SchedulerState::Handle`.

namespace shoal::scheduler {

/// One life of a worker. A worker that comes back is the same `worker` with a larger incarnation;
/// whatever an earlier incarnation still says is recognised and dropped.
struct Seat {
  WorkerId worker{};
  uint64_t incarnation = 0;

  friend bool operator==(const Seat&, const Seat&) = default;
};

inline constexpr WorkerId kAnyWorker{-1};

/// The part of a task that one worker executes.
struct Piece {
  WorkerId pinned = kAnyWorker;  ///< The one worker that may run it, or kAnyWorker (floating).
  int64_t reserve_bytes = 0;     ///< >= 0. Device memory the execution needs on that worker.
  Duration cost{};               ///< Estimated time on the device; 0 is unknown.
  bool needs_inputs = false;     ///< Handed through to the worker core.

  friend bool operator==(const Piece&, const Piece&) = default;
};

/// One task. The first piece is inline, so that a task of one piece needs no array.
struct Submission {
  uint64_t tag = 0;  ///< The driver's own word; comes back in every action about the task.
  Instant deadline = kNever;
  Piece piece{};
  absl::Span<const Piece> more{};  ///< Pieces 1, 2, ...
  uint32_t client = 0;             ///< Reserved: the tenant for fair shares. Kept, not yet used.
  uint8_t priority = 0;            ///< Reserved: 0 is normal. Kept, not yet used.
  bool retry_safe = true;          ///< May run again when its worker is lost half way.
};

// --- Events ---------------------------------------------------------------------------------

/// A worker is ready for work. Of a seat already seated: its figures changed.
struct WorkerJoined {
  Seat seat{};
  int64_t memory_bytes = 0;           ///< Limit of stored plus reserved bytes.
  int32_t slots = 1;                  ///< >= 1. Attempts in flight at once, waiting ones included.
  int32_t lanes = 1;                  ///< >= 1. Attempts that run at once; see `window`.
  Duration window = Duration::max();  ///< Beyond `lanes` attempts, no more than this much
                                      ///< estimated work in flight: deep prefetch for tiny
                                      ///< tasks, none for long ones.
};

/// A worker is gone: its process died, its stream closed, or it fell silent.
struct WorkerLost {
  Seat seat{};
};

/// A worker gets no more floating pieces. Pinned ones still go there: their data is nowhere else.
struct WorkerDraining {
  Seat seat{};
};

/// Bytes of the arrays stored on a worker: an absolute figure, not a difference.
struct MemoryChanged {
  Seat seat{};
  int64_t stored_bytes = 0;
};

struct TasksSubmitted {
  absl::Span<const Submission> tasks{};
};

/// Ids of ended tasks are legal and ignored: a cancel may cross the completion.
struct TasksCancelled {
  absl::Span<const TaskId> tasks{};
};

/// Repeated and late ends are legal and ignored.
struct AttemptsEnded {
  Seat seat{};
  absl::Span<const core::AttemptEnd> ends{};
};

/// Admits no more tasks; those admitted run to their end. Cannot be undone.
struct Drain {};

/// Time passed. Send it at `NextWakeup`.
struct Tick {};

using Event = std::variant<TasksSubmitted, AttemptsEnded, TasksCancelled, MemoryChanged,
                           WorkerJoined, WorkerLost, WorkerDraining, Drain, Tick>;

// --- Actions --------------------------------------------------------------------------------

/// The one terminal state of a task. The comment names the code a client sees.
enum class Outcome : uint8_t {
  kOk,                ///< OK: every piece ended well.
  kFailed,            ///< The op's own error, kept by the driver under `Finished::attempt`.
  kOutOfMemory,       ///< RESOURCE_EXHAUSTED: a device had less memory than was reserved.
  kCancelled,         ///< CANCELLED.
  kDeadlineExceeded,  ///< DEADLINE_EXCEEDED, waiting or running.
  kQueueFull,         ///< RESOURCE_EXHAUSTED with `retry_after`.
  kNeverFits,         ///< RESOURCE_EXHAUSTED, not retryable: no worker has so much memory.
  kMemoryFull,        ///< RESOURCE_EXHAUSTED: stored arrays left no room for too long.
  kDraining,          ///< UNAVAILABLE with `retry_after`.
  kNoWorker,          ///< UNAVAILABLE with `retry_after`: no worker joined, or all are gone.
  kWorkerLost,        ///< ABORTED: lost with its worker, and not to be run again.
  kShardLost,         ///< DATA_LOSS: pinned to a worker that is gone.
};

/// Tells a worker to give an attempt up. Its end still comes, as for any other.
struct Stop {
  WorkerId worker{};
  AttemptId attempt{};

  friend bool operator==(const Stop&, const Stop&) = default;
};

/// A task reached its terminal state: emitted exactly once for each submission.
///
/// Attempts told to stop may still run then. Buffers they use must live until their ends come or
/// their worker is lost.
struct Finished {
  TaskId task{};  ///< None when the task was refused at submission.
  uint64_t tag = 0;
  Outcome outcome = Outcome::kOk;
  WorkerId worker{};         ///< Where the deciding attempt ran, or the worker lost or too small.
  AttemptId attempt{};       ///< The attempt that decided; none when no attempt did.
  int64_t needed_bytes = 0;  ///< kNeverFits, kMemoryFull: what the piece asked for...
  int64_t limit_bytes = 0;   ///< ...and the most that any worker it may use could give.
  Duration retry_after{};    ///< kQueueFull, kDraining, kNoWorker: when to try again.

  friend bool operator==(const Finished&, const Finished&) = default;
};

/// Assignments grouped by worker, in the order in which each worker must get its own.
///
/// Storage is kept between uses, so a buffer in steady use allocates nothing.
class AssignmentGroups {
 public:
  /// Workers that have assignments here, in the order of their first.
  absl::Span<const WorkerId> workers() const { return workers_; }

  /// The assignments of `worker`; empty when it has none. Valid until the next change.
  absl::Span<const core::Assignment> For(WorkerId worker) const {
    const auto index = static_cast<size_t>(worker.value);
    return index < groups_.size() ? absl::MakeConstSpan(groups_[index])
                                  : absl::Span<const core::Assignment>{};
  }

  /// The last assignment of `worker`, new, to be filled in.
  core::Assignment& Append(WorkerId worker) {
    const auto index = static_cast<size_t>(worker.value);
    if (index >= groups_.size()) groups_.resize(index + 1);
    if (groups_[index].empty()) workers_.push_back(worker);
    return groups_[index].emplace_back();
  }

  void Clear() {
    for (const WorkerId worker : workers_) groups_[static_cast<size_t>(worker.value)].clear();
    workers_.clear();
  }

 private:
  std::vector<std::vector<core::Assignment>> groups_;  // By worker.
  std::vector<WorkerId> workers_;
};

/// What the driver has to do, appended to by `Handle`. Any order works between the kinds as long
/// as each worker gets its assignments before its stops.
struct Actions {
  /// One entry for each submission of `TasksSubmitted`, in order: its id, or none when it was
  /// refused (its `Finished` is there too). A task may be finished and accepted at once.
  std::vector<TaskId> accepted;
  AssignmentGroups assigned;
  std::vector<Stop> stops;
  std::vector<Finished> finished;

  /// Forgets the actions and keeps the storage.
  void Clear() {
    accepted.clear();
    assigned.Clear();
    stops.clear();
    finished.clear();
  }
};

}  // namespace shoal::scheduler
