#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/time.h"
#include "server/runtime/task_body.h"
#include "server/runtime/worker_link.h"
#include "server/scheduler/scheduler_state.h"
#include "server/worker/worker_state.h"

namespace shoal::runtime {

/// One worker, as the scheduler and its own core know it.
struct WorkerSeat {
  int64_t memory_bytes = 0;
  int32_t slots = 1024;  ///< Attempts in flight: deep, since they wait in this very process.
  int32_t lanes = 1;
  Duration window = std::chrono::milliseconds(1);
};

/// Work to be done outside the lock: launches to run and finishes to tell.
class Round;

/// Drives the scheduler core and the links to the workers, embedded ones and others.
///
/// There is no thread of its own on the way of a task: whoever brings an event also carries out
/// what follows from it, so that a small task is submitted, run and finished on one thread without
/// a single wake-up. The cores are guarded by one mutex, held for the time of a batch.
///
/// Thread-safety: all calls from any thread. Bodies are called without the lock.
class Dispatcher {
 public:
  /// `policy` is a name that scheduler::MakePlacement knows (checked). `workers` are embedded ones,
  /// with the ids 0, 1, ...; others may join later.
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

  /// Ends an attempt whose Run returned nothing. One of a life that was lost is only let go.
  void End(const PieceRun& run, core::AttemptEnd end, TaskBody* body);

  /// Takes a worker in, while tasks run; what waits may go there at once.
  ///
  /// `again`: a worker that was here before, in a new life; whatever its old one still holds is
  ///   lost first. None: a new worker, with the next id.
  /// Result: the seat that its reports and its loss are told with. One that is not in this process
  ///   is to be lost before the dispatcher goes, which waits for whatever it was given.
  scheduler::Seat Join(const WorkerSeat& seat, std::unique_ptr<WorkerLink> link,
                       std::optional<WorkerId> again = std::nullopt);

  /// A worker is gone, with its link. Its attempts are given to others where the task allows it,
  /// and end as the scheduler says where not: pinned pieces kShardLost, others kWorkerLost.
  /// Seats of earlier lives are legal and ignored.
  ///
  /// Of an embedded worker: its device must touch no memory any more and refuse what is launched
  /// still, since a piece that is run again writes where the lost attempt did. The ends of its
  /// launches still come.
  void Lost(const scheduler::Seat& seat);

  /// Attempts that ended on a worker which is not in this process. Repeated ones, and those of
  /// earlier lives, are legal and ignored.
  void Report(const scheduler::Seat& seat, absl::Span<const core::AttemptEnd> ends);

  /// Bytes of stored arrays on a worker, for admission. Ignored for one that is lost.
  void SetStored(WorkerId worker, int64_t bytes);

  /// Admits nothing more; `idle` is called once nothing waits, nothing runs, and all who had to be
  /// told of an end have been.
  void Drain(absl::AnyInvocable<void() &&> idle);

  scheduler::SchedulerState::Counts Counts() const;
  /// Of this life of it; nothing for a worker that is lost.
  worker::WorkerState::Counts WorkerCounts(WorkerId worker) const;

  static uint64_t Tag(TaskBody* body) { return reinterpret_cast<uint64_t>(body); }

 private:
  struct Worker {
    scheduler::Seat seat;
    std::unique_ptr<WorkerLink> link;  // Null: lost.
  };

  void Drive(const scheduler::Event& event, std::vector<TaskId>* ids);
  void Tick();
  void RunTimer();
  void CarryOut(std::unique_ptr<Round> round);
  void Execute(Round* round);
  void Tell(Round* round);
  std::unique_ptr<Round> TakeRound();

  // With the lock held.
  Worker& Find(WorkerId id) { return workers_[static_cast<size_t>(id.value)]; }
  bool IsCurrent(const scheduler::Seat& seat);
  bool IsIdle() const { return rounds_out_ == 0 && launches_out_ == 0 && scheduler_.idle(); }
  void Seat(Worker* worker, const WorkerSeat& seat);
  void Collect(Round* round);
  void Relay(Instant now, const Worker& worker, Round* round);
  void ReportEnds(Round* round);
  void ArmTimer();
  static void Release(TaskBody* body);

  mutable std::mutex mutex_;
  scheduler::SchedulerState scheduler_;
  scheduler::Actions actions_;
  scheduler::Actions pending_;   // What Collect is taking to the workers.
  std::vector<Worker> workers_;  // By id; never fewer.
  std::vector<std::unique_ptr<Round>> spare_rounds_;
  int64_t rounds_out_ = 0;    // Threads that still carry something out.
  int64_t launches_out_ = 0;  // Launches whose ends have not come, on lost workers too.
  std::condition_variable rounds_in_;
  std::vector<absl::AnyInvocable<void() &&>> when_idle_;

  std::condition_variable timer_;
  Instant armed_ = kNever;
  bool stopping_ = false;
  absl::Status started_;
  std::thread timer_thread_;
};

}  // namespace shoal::runtime
