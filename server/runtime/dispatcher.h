#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/time.h"
#include "server/runtime/task_body.h"
#include "server/scheduler/scheduler_state.h"
#include "server/worker/worker_state.h"

namespace shoal::runtime {

/// One embedded worker, as the scheduler and its own core know it.
struct WorkerSeat {
  int64_t memory_bytes = 0;
  int32_t slots = 1024;  ///< Attempts in flight: deep, since they wait in this very process.
  int32_t lanes = 1;
  Duration window = std::chrono::milliseconds(1);
};

/// Work to be done outside the lock: launches to run and finishes to tell.
class Round;

/// Drives the scheduler core and the cores of the embedded workers.
///
/// There is no thread of its own on the way of a task: whoever brings an event also carries out
/// what follows from it, so that a small task is submitted, run and finished on one thread without
/// a single wake-up. The cores are guarded by one mutex, held for the time of a batch.
///
/// Thread-safety: all calls from any thread. Bodies are called without the lock.
class Dispatcher {
 public:
  /// `policy` is a name that scheduler::MakePlacement knows (checked).
  Dispatcher(const scheduler::Options& options, absl::string_view policy,
             absl::Span<const WorkerSeat> workers);
  /// OK, or that the system had no thread for it (RESOURCE_EXHAUSTED): then deadlines do not pass,
  /// and it is not to be used.
  absl::Status Started() const { return started_; }
  /// Waits until every task has ended, every attempt that was given up too, and all who had to be
  /// told have been. Deadlines no longer pass meanwhile.
  ~Dispatcher();

  /// Submits tasks; `tag` of each is set by `Tag(body)`. Those that end at once are told so before
  /// this returns. `ids`, unless null, gets one id a task, none where it was refused.
  void Submit(absl::Span<const scheduler::Submission> tasks, std::vector<TaskId>* ids);

  /// Ids of ended tasks are legal and ignored.
  void Cancel(absl::Span<const TaskId> tasks);

  /// Ends an attempt whose Run returned nothing.
  void End(WorkerId worker, core::AttemptEnd end, TaskBody* body);

  /// Bytes of stored arrays on a worker, for admission.
  void SetStored(WorkerId worker, int64_t bytes);

  /// Admits nothing more; `idle` is called once nothing waits, nothing runs, and all who had to be
  /// told of an end have been.
  void Drain(absl::AnyInvocable<void() &&> idle);

  scheduler::SchedulerState::Counts Counts() const;
  worker::WorkerState::Counts WorkerCounts(WorkerId worker) const;

  static uint64_t Tag(TaskBody* body) { return reinterpret_cast<uint64_t>(body); }

 private:
  struct Worker;

  void Drive(const scheduler::Event& event, std::vector<TaskId>* ids);
  void Tick();
  void RunTimer();
  void CarryOut(std::unique_ptr<Round> round);
  void Execute(Round* round);
  void Tell(Round* round);
  std::unique_ptr<Round> TakeRound();

  // With the lock held.
  void Collect(Round* round);
  void ToWorker(Worker* worker, const worker::Event& event, Round* round);
  void ReportEnds(Round* round);
  void Interrupt(const Worker& worker, const worker::Interrupt& interrupt);
  void ArmTimer();
  static void Release(TaskBody* body);

  mutable std::mutex mutex_;
  scheduler::SchedulerState scheduler_;
  scheduler::Actions actions_;
  scheduler::Actions pending_;  // What Collect is taking to the workers.
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Round>> spare_rounds_;
  int64_t rounds_out_ = 0;  // Threads that still carry something out.
  std::condition_variable rounds_in_;
  std::vector<absl::AnyInvocable<void() &&>> when_idle_;

  std::condition_variable timer_;
  Instant armed_ = kNever;
  bool stopping_ = false;
  absl::Status started_;
  std::thread timer_thread_;
};

}  // namespace shoal::runtime
