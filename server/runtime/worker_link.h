#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/ids.h"
#include "base/time.h"
#include "server/core/attempt.h"
#include "server/runtime/task_body.h"
#include "server/scheduler/events.h"
#include "server/worker/worker_state.h"

namespace shoal::runtime {

/// What follows in this process from what a link was told; appended to.
struct LinkActions {
  struct Launch {
    TaskBody* body;
    PieceRun run;
  };
  std::vector<Launch> launches;           ///< Run by whoever brought the event, without the lock.
  std::vector<core::AttemptEnd> reports;  ///< To the scheduler: one for each assignment.
};

/// The way from the scheduler to one worker, and back: the seam behind which a worker may be a core
/// in this process (LocalWorker) or a process of its own.
///
/// Whatever is known at once comes back in the actions of the very call, so that a task on an
/// embedded worker costs no wake-up. A link to another process queues what it is told, and brings
/// what that process reports by `Dispatcher::Report`, from a thread of its own.
///
/// Order: `Seated` first; an attempt is assigned before it is dropped.
/// Threads: one call at a time, under the dispatcher's lock: no call blocks, nor calls the
///   dispatcher.
/// Ownership: the dispatcher's, from Join until the worker is lost, or the dispatcher ends.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;

  /// Which life of which worker this is.
  virtual void Seated(const scheduler::Seat& seat) = 0;

  /// Work, in order. `Assignment::tag` is the body (Dispatcher::Tag). It lives until its task is
  /// finished, and for those that were held, until they are released too.
  virtual void Assign(Instant now, absl::Span<const core::Assignment> assignments,
                      LinkActions* actions) = 0;

  /// Attempts that are given up; each is still reported. Unknown ids are legal.
  virtual void Drop(Instant now, absl::Span<const AttemptId> attempts, LinkActions* actions) = 0;

  /// Launches that came to their end in this process: only a link that makes some is told.
  virtual void EndLaunches(Instant now, absl::Span<const core::AttemptEnd> ends,
                           LinkActions* actions) = 0;

  /// Bytes of the arrays stored on the worker: an absolute figure.
  virtual void SetStored(Instant now, int64_t bytes, LinkActions* actions) = 0;

  /// Time passed. Comes at `NextWakeup`, or at any other moment.
  virtual void Tick(Instant now, LinkActions* actions) = 0;
  virtual Instant NextWakeup() const = 0;

  virtual worker::WorkerState::Counts counts() const = 0;

 protected:
  /// Keeps a body until the end of its launch has been told to the dispatcher: once a launch.
  static void Hold(TaskBody* body) { body->holds_.fetch_add(1, std::memory_order_relaxed); }
  /// Raises the body's cancel flag: its task has ended.
  static void Interrupt(TaskBody* body) { body->cancelled_.store(true, std::memory_order_relaxed); }
};

}  // namespace shoal::runtime
