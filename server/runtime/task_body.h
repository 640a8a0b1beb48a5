#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "server/core/attempt.h"
#include "server/scheduler/events.h"

namespace shoal::runtime {

/// One piece to be run now, on one worker.
struct PieceRun {
  scheduler::Seat seat;  ///< The worker, and which life of it.
  AttemptId attempt;
  int32_t piece = 0;
};

/// What a task does. The scheduler sees only sizes and times; the dispatcher calls this.
///
/// Life: Run for each attempt, OnFinished once (perhaps while a stopped attempt still runs),
///   Retire last, when nothing will touch the body any more: it may delete itself there. A piece
///   whose worker was lost is Run again, on another: one that must not be, says so at submission
///   (`Submission::retry_safe`).
/// Threads: Run of different pieces may come at the same time; OnFinished may come during a Run.
///
/// Run is for workers of this process: it closes over operands, streams and memory here. A piece
/// for a worker of another process will not be run but described, and not as code: by the call
/// (op, parameters, arguments as references to stored shards, or with their bytes) and the range of
/// elements that is the piece's, which is all that a Stage was cut from. `AssignAttempt` of
/// worker.proto has the call; the range, and what an outcome brings back, still want fields there.
/// The link of such a worker (worker_link.h) asks the body for it while it is told of the
/// assignment, and the worker at the other end makes its own device::Work.
/// Bodies that have no such description are submitted with their pieces pinned to workers here.
class TaskBody {
 public:
  TaskBody() = default;
  TaskBody(const TaskBody&) = delete;
  TaskBody& operator=(const TaskBody&) = delete;
  virtual ~TaskBody() = default;

  /// Does the piece. Either ends it before returning, with its outcome, or returns nothing and
  /// calls Dispatcher::End exactly once later, from any thread. Must not block: long work goes to
  /// the worker's device.
  virtual std::optional<core::AttemptOutcome> Run(const PieceRun& run) = 0;

  /// The task has reached its one terminal state.
  virtual void OnFinished(const scheduler::Finished& finished) = 0;

  virtual void Retire() = 0;

  /// Raised when the work is no longer wanted: to be looked at between chunks.
  const std::atomic<bool>* cancel_flag() const { return &cancelled_; }

 private:
  friend class Dispatcher;
  friend class WorkerLink;
  std::atomic<bool> cancelled_ = false;
  std::atomic<int32_t> holds_ = 1;  // One for the finish, one for each launch under way.
};

}  // namespace shoal::runtime
