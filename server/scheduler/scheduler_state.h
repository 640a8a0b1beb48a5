#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "base/time.h"
#include "server/core/timer_wheel.h"
#include "server/scheduler/events.h"
#include "server/scheduler/placement.h"
#include "server/scheduler/records.h"

namespace shoal::scheduler {

struct Options {
  /// Pieces that may wait; attempts do not count. A task of several counts before any starts.
  int64_t queue_pieces_max = 1'000'000;
  /// Sum of the reservations of waiting pieces. A single piece may exceed it.
  int64_t queue_bytes_max = int64_t{1} << 40;
  /// In [0, 255]. How often a piece may lose its worker and run again; 0 is never.
  int32_t retries_max = 2;
  /// Counted for a piece whose cost is 0.
  Duration unknown_cost = std::chrono::milliseconds(1);
  /// Hint in refusals that may pass.
  Duration retry_after = std::chrono::milliseconds(100);
  /// How long a piece waits for stored arrays to go.
  Duration memory_wait = std::chrono::seconds(1);
  /// How long pieces wait when every worker is gone.
  Duration no_worker_wait = std::chrono::seconds(10);
};

/// Which attempt goes where, and what becomes of each task: a pure state machine.
///
/// Floating pieces wait in one FIFO, pinned ones in a FIFO of their worker; the older of the two
/// goes first. A piece that finds no memory steps aside: up to `kParkedMax` may, other pieces that
/// need memory wait behind them, those that need none pass. The oldest of those aside has one
/// worker's memory kept free for it, so none starves. The rules, states and invariants are in
/// docs/scheduling.md.
///
/// Events are the driver's promises: one that cannot be (time running backwards, a submission with
/// a negative reservation) ends the process. What a peer can cause (late, repeated and unknown
/// ids) is ignored and counted.
///
/// Cost: O(1) for each piece submitted, ended, cancelled or expired, plus the policy's cost for a
/// floating piece (least_load: O(log workers)). O(its pieces) for a lost worker, O(workers) when a
/// worker comes or goes, and for a piece that waits for memory. Allocates only while it grows.
///
/// Thread-safety: one thread. No clock, no randomness: the same events give the same actions.
class SchedulerState {
 public:
  /// Pieces that may wait for memory aside while younger ones pass them.
  static constexpr int64_t kParkedMax = 16;
  /// Seats there may be.
  static constexpr int32_t kWorkersMax = 1 << 20;

  /// What `counts` tells; sums over the core's life are marked so.
  struct Counts {
    int64_t tasks = 0;          ///< Admitted and not ended.
    int64_t waiting = 0;        ///< Pieces in queues.
    int64_t waiting_bytes = 0;  ///< Their reservations.
    int64_t parked = 0;         ///< Pieces of `waiting` that stepped aside for lack of memory.
    int64_t in_flight = 0;      ///< Attempts, those told to stop included.
    int64_t stopping = 0;       ///< Attempts told to stop.
    int64_t workers = 0;        ///< Alive.
    uint64_t admitted = 0;      ///< Life sum.
    uint64_t refused = 0;       ///< Life sum: ended at submission.
    uint64_t assigned = 0;      ///< Life sum of attempts.
    uint64_t retried = 0;       ///< Life sum of pieces put back into a queue.
    uint64_t stale = 0;         ///< Life sum of events about what is no more.
  };

  /// What `Find` tells of a worker.
  struct WorkerView {
    Seat seat;
    bool alive = false;
    bool draining = false;
    int64_t memory_bytes = 0;
    int64_t stored_bytes = 0;
    int64_t reserved_bytes = 0;
    int64_t in_flight = 0;
    int64_t pinned_waiting = 0;
  };

  /// `placement` is not null and fresh.
  SchedulerState(const Options& options, std::unique_ptr<Placement> placement);

  /// Takes one event at the time `now`, not before the last event's, and appends what is to be
  /// done to `actions`.
  void Handle(Instant now, const Event& event, Actions* actions);

  /// When a `Tick` is next needed if no other event comes; kNever when it is not.
  Instant NextWakeup() const;

  const Counts& counts() const { return counts_; }
  bool draining() const { return draining_; }
  /// Nothing waits and nothing runs: after `Drain`, the moment to leave.
  bool idle() const { return counts_.tasks == 0 && counts_.in_flight == 0; }
  /// A worker that has or had that seat; of others, one that is not alive.
  WorkerView Find(WorkerId worker) const;
  /// Whether the task is admitted and not ended.
  bool IsLive(TaskId task) const;

  /// Checks every invariant of docs/scheduling.md; O(everything).
  ///
  /// Errors:
  ///   INTERNAL  one does not hold; the message names it and the record.
  absl::Status Validate() const;

 private:
  void On(const TasksSubmitted& event);
  void On(const AttemptsEnded& event);
  void On(const TasksCancelled& event);
  void On(const MemoryChanged& event);
  void On(const WorkerJoined& event);
  void On(const WorkerLost& event);
  void On(const WorkerDraining& event);
  void On(const Drain& event);
  void On(const Tick& event);

  // Admission.
  void Submit(const Submission& submission);
  bool RefuseUnplaceable(const Submission& submission);
  bool RefuseUnplaceable(const Submission& submission, const Piece& piece);
  bool QueueIsFull(const Submission& submission) const;
  void Refuse(const Submission& submission, Finished finished);
  uint32_t Admit(const Submission& submission);
  uint32_t NewRow(const Piece& piece, const Submission& submission);

  // Attempts and ends.
  void EndAttempt(uint32_t row, core::AttemptOutcome outcome);
  void Detach(uint32_t row);
  void Requeue(uint32_t row);
  void Finish(uint32_t head, const Finished& how);
  void DropPiece(uint32_t row);
  void FreeRow(uint32_t row);

  // Dispatch and queues: scheduler_dispatch.cc.
  void Dispatch();
  void DispatchParked();
  void DispatchFloating();
  void DispatchPinned(int32_t worker_index);
  bool Start(uint32_t row);
  bool MayPlace(uint32_t row) const;
  uint32_t NextFloating() const;
  bool Place(uint32_t row);
  bool PlaceOnHeld(uint32_t row);
  bool IsBehindHold(int32_t worker_index, uint32_t row) const;
  bool YieldToPinned(int32_t worker_index, uint32_t row);
  bool EndIfExpired(uint32_t row);
  void Assign(uint32_t row, int32_t worker_index);
  PieceList& FloatingQueue(uint32_t row) { return rows_[row].IsLight() ? light_ : heavy_; }
  void CountWaiting(uint32_t row, PieceState state);
  void Enqueue(uint32_t row);
  void Dequeue(uint32_t row);
  void Park(uint32_t row);
  bool ParkInOrder(uint32_t row);
  void HoldFor(uint32_t row);
  void LiftYoungerHolds();
  void ReleaseHold();
  void WaitForStored(uint32_t row);
  void OnMemoryTimer(uint32_t row);

  // Workers: scheduler_workers.cc.
  WorkerRow* Current(const Seat& seat);
  void StopFloating(WorkerRow& worker);
  void Lose(WorkerId id);
  void LoseAttempts(WorkerId id);
  void CountWorkers();
  void WatchOrphans();
  void FailOrphans();
  void Touch(int32_t worker);
  void UpdatePlacement(int32_t worker);
  bool FitsSomewhereWhenIdle(int64_t reserve_bytes) const;

  // Ids.
  static size_t AsIndex(int32_t worker) { return static_cast<size_t>(worker); }
  uint32_t FindTask(TaskId task) const;
  uint32_t FindAttempt(AttemptId attempt) const;
  TaskId TaskIdOf(uint32_t head) const;
  AttemptId AttemptIdOf(uint32_t row) const;
  Duration CostOf(const PieceRow& piece) const {
    return piece.cost == Duration{} ? options_.unknown_cost : piece.cost;
  }

  // Validation: scheduler_validate.cc.
  struct Census;
  absl::Status ValidateRow(uint32_t index, Census* census) const;
  absl::Status ValidateTask(uint32_t head) const;
  absl::Status ValidateList(const PieceList& list, PieceState state) const;
  absl::Status ValidateWorker(int32_t index, Census* census) const;
  absl::Status ValidateWorkConserved() const;
  bool MayTakeFloating(int32_t worker_index, uint32_t row) const;

  Options options_;
  std::unique_ptr<Placement> placement_;
  Instant now_{};
  Actions* actions_ = nullptr;  // Of the event being handled.
  Counts counts_;
  bool draining_ = false;

  PieceSlab rows_;
  PieceList light_;   // Floating pieces that need no memory.
  PieceList heavy_;   // Floating pieces that need some.
  PieceList parked_;  // Heavy ones that stepped aside.
  uint64_t next_sequence_ = 1;
  uint32_t requeued_last_ = core::kNone;   // In this event; a hint.
  uint64_t requeued_oldest_ = UINT64_MAX;  // Sequence of the oldest heavy one, in this event.
  bool dirty_ = false;                     // Some piece may start that could not before.

  std::vector<WorkerRow> workers_;  // By WorkerId.
  std::vector<int32_t> touched_;    // Workers that may take more than before.
  int32_t accepting_ = 0;           // Workers that take floating pieces.
  int64_t memory_max_ = 0;          // The largest memory of those.

  int32_t held_worker_ = -1;  // Kept free for the oldest parked piece.
  uint32_t held_for_ = core::kNone;

  core::TimerWheel deadlines_;       // By the row of piece 0.
  core::TimerWheel memory_timers_;   // By row.
  Instant orphaned_until_ = kNever;  // When waiting floating pieces end for lack of workers.
};

}  // namespace shoal::scheduler
