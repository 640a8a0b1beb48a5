#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/scheduler/events.h"
#include "server/scheduler/scheduler_state.h"

namespace shoal::scheduler {

/// A slow scheduler of maps and sets that watches the real one. For each event it works out which
/// ends of which tasks are permitted and which are required, follows the assignments made, and
/// then judges the state they lead to: limits, order by age, no worker idle. It shares no code
/// with the core and does not foresee which of several permitted workers the core takes.
class ReferenceScheduler {
 public:
  explicit ReferenceScheduler(const Options& options) : options_(options) {}

  /// Judges the core's answer to one event. `parked` is the core's count after it: the rules for
  /// memory depend on it. What is wrong, one line each.
  std::vector<std::string> Observe(Instant now, const Event& event, const Actions& actions,
                                   int64_t parked);

  struct Attempt {
    uint64_t tag = 0;
    int32_t piece = 0;
    WorkerId worker{};
    int64_t reserve_bytes = 0;
    bool stopping = false;
  };

  /// Attempts in flight, those told to stop included.
  const std::map<AttemptId, Attempt>& attempts() const { return attempts_; }
  /// Tags of tasks admitted and not ended, with their ids.
  std::map<uint64_t, TaskId> LiveTasks() const;

 private:
  struct RefPiece {
    Piece needs;
    enum { kWaiting, kRunning, kDone } state = kWaiting;
    int32_t losses = 0;
    uint64_t age = 0;
    bool moved = false;  // Put back once: its place in the order is loose.
  };
  struct Task {
    TaskId id;
    Instant submitted{};
    Instant deadline = kNever;
    bool retry_safe = true;
    std::vector<RefPiece> pieces{};
    std::set<Outcome> permitted{};  // In this event.
    bool required = false;          // It must end in this event.
  };
  struct Worker {
    uint64_t incarnation = 0;
    bool alive = false;
    bool draining = false;
    int64_t memory = 0;
    int64_t stored = 0;
    int64_t reserved = 0;
    int32_t slots = 0;
    int32_t in_flight = 0;

    bool Accepts() const { return alive && !draining; }
    bool Fits(int64_t bytes) const { return bytes == 0 || bytes <= memory - stored - reserved; }
    bool FitsIdle(int64_t bytes) const { return bytes == 0 || bytes <= memory - stored; }
  };
  struct Waiting {
    uint64_t age;
    const RefPiece* piece;
  };

  void Apply(const TasksSubmitted& event);
  void Apply(const AttemptsEnded& event);
  void Apply(const TasksCancelled& event);
  void Apply(const MemoryChanged& event);
  void Apply(const WorkerJoined& event);
  void Apply(const WorkerLost& event);
  void Apply(const WorkerDraining& event);
  void Apply(const Drain& event);
  void Apply(const Tick& event);

  void Require(Task& task, Outcome outcome);
  std::set<Outcome> Refusals(const Submission& submission) const;
  void PermitTimeouts();
  void EndAttempt(const core::AttemptEnd& end, Worker& worker);
  void PutBack(RefPiece& piece);
  void Lose(WorkerId id);
  Worker* Current(const Seat& seat);
  bool Starved(const RefPiece& piece) const;
  int64_t WaitingCount() const;

  void FollowAccepted(const Actions& actions);
  void FollowAssigned(const Actions& actions);
  void FollowFinished(const Actions& actions);
  void FollowStops(const Actions& actions);
  void JudgeWorkers(int64_t parked);
  void JudgeOrder(const Actions& actions, int64_t parked);
  void JudgeIdle(int64_t parked);
  std::vector<Waiting> WaitingFor(WorkerId worker, bool pinned) const;
  void Wrong(const std::string& what) { wrong_.push_back(what); }

  const Options options_;
  Instant now_{};
  bool draining_ = false;
  std::map<uint64_t, Task> tasks_;  // By tag.
  std::map<WorkerId, Worker> workers_;
  std::map<AttemptId, Attempt> attempts_;
  std::set<AttemptId> attempts_used_;
  std::set<TaskId> tasks_used_;
  std::set<uint64_t> refused_;                // Tags refused in this event.
  std::set<AttemptId> ended_;                 // In this event.
  std::set<AttemptId> to_stop_;               // Must be stopped in this event.
  std::vector<const Submission*> submitted_;  // In this event.
  uint64_t next_age_ = 1;
  std::vector<std::string> wrong_;
};

}  // namespace shoal::scheduler
