#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/scheduler/events.h"
#include "server/scheduler/placement.h"
#include "server/scheduler/scheduler_state.h"

namespace shoal::scheduler {

inline const char* Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "OK";
    case Outcome::kFailed:
      return "FAILED";
    case Outcome::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case Outcome::kCancelled:
      return "CANCELLED";
    case Outcome::kDeadlineExceeded:
      return "DEADLINE";
    case Outcome::kQueueFull:
      return "QUEUE_FULL";
    case Outcome::kNeverFits:
      return "NEVER_FITS";
    case Outcome::kMemoryFull:
      return "MEMORY_FULL";
    case Outcome::kDraining:
      return "DRAINING";
    case Outcome::kNoWorker:
      return "NO_WORKER";
    case Outcome::kWorkerLost:
      return "WORKER_LOST";
    case Outcome::kShardLost:
      return "SHARD_LOST";
  }
  return "?";
}

inline Instant At(Duration since_start) { return Instant{since_start}; }

/// A piece that needs `reserve_bytes`, pinned when `pinned` says so.
inline Piece Needs(int64_t reserve_bytes, WorkerId pinned = kAnyWorker) {
  return {.pinned = pinned, .reserve_bytes = reserve_bytes, .cost = Duration{1'000}};
}

/// A scheduler core whose actions read as text, one line an action, all of one event compared at
/// once: "1.0 -> 2" (piece 0 of the task with tag 1 is assigned to worker 2), "stop 1.0 on 2",
/// "1 OK". Assignments come first, by worker, then stops, then ends. Every event is followed by
/// `Validate`.
class Harness {
 public:
  using Lines = std::vector<std::string>;

  explicit Harness(const Options& options = {}) : core(options, MakePlacement("least_load")) {}

  Lines Handle(Instant now, const Event& event) {
    actions.Clear();
    core.Handle(now, event, &actions);
    EXPECT_EQ(core.Validate(), absl::OkStatus());
    now_ = now;
    return Describe();
  }

  Lines Join(int32_t worker, int64_t memory_bytes = 1000, int32_t slots = 2,
             uint64_t incarnation = 1) {
    return Handle(now_, WorkerJoined{.seat = {WorkerId{worker}, incarnation},
                                     .memory_bytes = memory_bytes,
                                     .slots = slots});
  }

  Lines Submit(std::vector<Submission> tasks) {
    Lines lines = Handle(now_, TasksSubmitted{tasks});
    EXPECT_EQ(actions.accepted.size(), tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) tasks_[tasks[i].tag] = actions.accepted[i];
    return lines;
  }

  /// A task of one floating piece.
  Lines Submit(uint64_t tag, int64_t reserve_bytes = 0, Instant deadline = kNever) {
    return Submit({{.tag = tag, .deadline = deadline, .piece = Needs(reserve_bytes)}});
  }

  Lines Cancel(uint64_t tag) {
    const std::vector<TaskId> tasks{tasks_.at(tag)};
    return Handle(now_, TasksCancelled{tasks});
  }

  /// The last attempt of a piece ended on the worker it was given to.
  Lines End(uint64_t tag, int32_t piece = 0,
            core::AttemptOutcome outcome = core::AttemptOutcome::kOk) {
    const auto& [worker, attempt] = attempts_.at({tag, piece});
    const std::vector<core::AttemptEnd> ends{{attempt, outcome, 0}};
    return Handle(now_, AttemptsEnded{SeatOf(worker), ends});
  }

  Lines Lose(int32_t worker) { return Handle(now_, WorkerLost{SeatOf(WorkerId{worker})}); }

  Lines Store(int32_t worker, int64_t bytes) {
    return Handle(now_, MemoryChanged{SeatOf(WorkerId{worker}), bytes});
  }

  Lines TickAt(Instant now) { return Handle(now, Tick{}); }

  Seat SeatOf(WorkerId worker) const { return core.Find(worker).seat; }
  TaskId task(uint64_t tag) const { return tasks_.at(tag); }
  AttemptId attempt(uint64_t tag, int32_t piece = 0) const {
    return attempts_.at({tag, piece}).second;
  }

  SchedulerState core;
  Actions actions;  // Of the last event.

 private:
  Lines Describe() {
    Lines lines;
    std::map<AttemptId, std::string> names;
    for (const WorkerId worker : actions.assigned.workers()) {
      for (const core::Assignment& a : actions.assigned.For(worker)) {
        attempts_[{a.tag, a.piece}] = {worker, a.attempt};
        lines.push_back(absl::StrCat(a.tag, ".", a.piece, " -> ", worker.value));
      }
    }
    for (const auto& [piece, attempt] : attempts_) {
      names[attempt.second] = absl::StrCat(piece.first, ".", piece.second);
    }
    for (const Stop& stop : actions.stops) {
      lines.push_back(absl::StrCat("stop ", names.at(stop.attempt), " on ", stop.worker.value));
    }
    for (const Finished& finished : actions.finished) {
      lines.push_back(absl::StrCat(finished.tag, " ", Name(finished.outcome)));
    }
    return lines;
  }

  Instant now_{};
  std::map<uint64_t, TaskId> tasks_;
  std::map<std::pair<uint64_t, int32_t>, std::pair<WorkerId, AttemptId>> attempts_;
};

}  // namespace shoal::scheduler
