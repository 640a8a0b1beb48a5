// Workers that join late, are lost, or are not in this process.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "server/runtime/dispatcher.h"
#include "server/runtime/local_worker.h"
#include "tests/server/runtime/probe.h"

namespace shoal::runtime {
namespace {

using core::AttemptOutcome;
using scheduler::Outcome;

constexpr int64_t kMemory = 1000;

/// A worker of another process, as far as the dispatcher knows: it notes what it is told.
class FarLink final : public WorkerLink {
 public:
  struct Notes {
    scheduler::Seat seat;
    std::vector<core::Assignment> assigned;
    std::vector<AttemptId> dropped;
    bool gone = false;
  };

  explicit FarLink(Notes* notes) : notes_(*notes) {}
  ~FarLink() override { notes_.gone = true; }

  void Seated(const scheduler::Seat& seat) override { notes_.seat = seat; }
  void Assign(Instant, absl::Span<const core::Assignment> assignments, LinkActions*) override {
    notes_.assigned.insert(notes_.assigned.end(), assignments.begin(), assignments.end());
  }
  void Drop(Instant, absl::Span<const AttemptId> attempts, LinkActions*) override {
    notes_.dropped.insert(notes_.dropped.end(), attempts.begin(), attempts.end());
  }
  void EndLaunches(Instant, absl::Span<const core::AttemptEnd>, LinkActions*) override {
    ADD_FAILURE() << "it launches nothing here";
  }
  void SetStored(Instant, int64_t, LinkActions*) override {}
  void Tick(Instant, LinkActions*) override {}
  Instant NextWakeup() const override { return kNever; }
  worker::WorkerState::Counts counts() const override { return {}; }

 private:
  Notes& notes_;
};

class DispatcherWorkersTest : public ::testing::Test {
 protected:
  void Start(size_t workers) {
    dispatcher_.emplace(options_, "least_load",
                        std::vector<WorkerSeat>(workers, {.memory_bytes = kMemory}));
  }

  TaskId Submit(Probe& probe, scheduler::Submission task = {}) {
    task.tag = Dispatcher::Tag(&probe);
    if (task.piece.cost == Duration()) task.piece.cost = Duration(1);
    std::vector<TaskId> ids;
    dispatcher_->Submit({&task, 1}, &ids);
    return ids[0];
  }

  void End(const Diary::Run& run, AttemptOutcome outcome = AttemptOutcome::kOk) {
    dispatcher_->End(run.piece, {.attempt = run.piece.attempt, .outcome = outcome}, run.body);
  }

  scheduler::Seat JoinHere(std::optional<WorkerId> again = std::nullopt) {
    return dispatcher_->Join(
        {.memory_bytes = kMemory},
        std::make_unique<LocalWorker>(worker::Options{.memory_bytes = kMemory}), again);
  }

  Diary diary_;
  scheduler::Options options_;
  std::optional<Dispatcher> dispatcher_;
};

TEST_F(DispatcherWorkersTest, WithoutAWorkerNothingIsAdmittedUntilOneJoins) {
  Start(0);
  Probe refused(&diary_, AttemptOutcome::kOk);
  EXPECT_FALSE(Submit(refused));
  EXPECT_EQ(refused.outcome, Outcome::kNoWorker);
  const scheduler::Seat seat = JoinHere();
  EXPECT_EQ(seat, (scheduler::Seat{WorkerId{0}, 1}));
  Probe probe(&diary_, AttemptOutcome::kOk);
  Submit(probe);
  EXPECT_EQ(probe.outcome, Outcome::kOk);
  EXPECT_EQ(probe.retired, 1);
  EXPECT_EQ(dispatcher_->WorkerCounts(seat.worker).reported, 1U);
}

TEST_F(DispatcherWorkersTest, AWorkerThatJoinsLateGetsWhatWaits) {
  const std::vector<WorkerSeat> seats = {{.memory_bytes = kMemory, .slots = 1}};
  dispatcher_.emplace(options_, "least_load", seats);
  Probe running(&diary_);
  Probe waiting(&diary_, AttemptOutcome::kOk);
  Submit(running);
  Submit(waiting);
  EXPECT_EQ(waiting.finished, 0);
  JoinHere();
  EXPECT_EQ(waiting.outcome, Outcome::kOk);
  EXPECT_EQ(waiting.run_thread, std::this_thread::get_id()) << "whoever joins it runs it";
  EXPECT_EQ(waiting.retired, 1);
  End(diary_.runs.Take());
}

TEST_F(DispatcherWorkersTest, AWorkerThatJoinsLateSharesTheLoad) {
  Start(1);
  Probe first(&diary_);
  Submit(first);
  const scheduler::Seat seat = JoinHere();
  EXPECT_EQ(seat.worker, WorkerId{1});
  Probe second(&diary_);
  Submit(second);
  const Diary::Run lost = diary_.runs.Take();
  EXPECT_EQ(lost.piece.seat.worker, WorkerId{0});
  const Diary::Run run = diary_.runs.Take();
  EXPECT_EQ(run.piece.seat, seat);
  End(run);
  EXPECT_EQ(second.outcome, Outcome::kOk);
  dispatcher_->Lost(lost.piece.seat);  // The first is run again where there is somebody.
  const Diary::Run again = diary_.runs.Take();
  EXPECT_EQ(again.piece.seat, seat);
  End(again);
  EXPECT_EQ(first.outcome, Outcome::kOk);
  End(lost);
}

TEST_F(DispatcherWorkersTest, ATaskWhoseWorkerIsLostRunsAgainAndItsLateEndIsOnlyLetGo) {
  Start(2);
  Probe probe(&diary_);
  Submit(probe);
  const Diary::Run lost = diary_.runs.Take();
  dispatcher_->Lost(lost.piece.seat);
  dispatcher_->Lost(lost.piece.seat);  // Twice is as once.
  const Diary::Run again = diary_.runs.Take();
  EXPECT_NE(again.piece.seat.worker, lost.piece.seat.worker);
  EXPECT_NE(again.piece.attempt, lost.piece.attempt);
  EXPECT_FALSE(*probe.cancel_flag());
  EXPECT_EQ(probe.finished, 0);
  End(again);
  EXPECT_EQ(probe.outcome, Outcome::kOk);
  EXPECT_EQ(probe.retired, 0) << "the lost launch still holds it";
  End(lost, AttemptOutcome::kFailed);
  EXPECT_EQ(probe.finished, 1);
  EXPECT_EQ(probe.retired, 1);
  EXPECT_EQ(dispatcher_->Counts().tasks, 0);
  EXPECT_EQ(dispatcher_->WorkerCounts(lost.piece.seat.worker).reported, 0U);
}

TEST_F(DispatcherWorkersTest, WhatMustNotRunAgainEndsWithItsWorker) {
  Start(2);
  Probe once(&diary_);
  Submit(once, {.retry_safe = false});
  Diary::Run run = diary_.runs.Take();
  dispatcher_->Lost(run.piece.seat);
  EXPECT_EQ(once.outcome, Outcome::kWorkerLost);
  End(run);

  const WorkerId left{1 - run.piece.seat.worker.value};
  Probe pinned(&diary_);
  Probe waiting(&diary_);
  Submit(pinned, {.piece = {.pinned = left}});
  Submit(waiting, {.piece = {.pinned = left}});
  run = diary_.runs.Take();
  dispatcher_->Lost(run.piece.seat);
  EXPECT_EQ(pinned.outcome, Outcome::kShardLost);
  EXPECT_EQ(waiting.outcome, Outcome::kShardLost);
  EXPECT_EQ(waiting.retired, 1);
  EXPECT_EQ(pinned.retired, 0);
  End(run);
  EXPECT_EQ(pinned.retired, 1);
}

TEST_F(DispatcherWorkersTest, LaunchesOfALostWorkerAreWaitedFor) {
  Start(1);
  Probe probe(&diary_);
  Submit(probe, {.retry_safe = false});
  const Diary::Run run = diary_.runs.Take();
  dispatcher_->Lost(run.piece.seat);
  EXPECT_EQ(probe.outcome, Outcome::kWorkerLost);
  bool idle = false;
  dispatcher_->Drain([&] { idle = true; });
  EXPECT_FALSE(idle) << "the device may still call back";
  End(run);
  EXPECT_TRUE(idle);
  EXPECT_EQ(probe.retired, 1);
}

TEST_F(DispatcherWorkersTest, AWorkerThatComesBackIsANewLife) {
  Start(1);
  Probe probe(&diary_);
  Submit(probe);
  const Diary::Run old = diary_.runs.Take();
  dispatcher_->Lost(old.piece.seat);
  dispatcher_->SetStored(WorkerId{0}, 10);  // Nobody is there to hear it.
  const scheduler::Seat seat = JoinHere(WorkerId{0});
  EXPECT_EQ(seat, (scheduler::Seat{WorkerId{0}, 2}));
  const Diary::Run again = diary_.runs.Take();
  EXPECT_EQ(again.piece.seat, seat);
  End(old);  // Of an attempt that the new core has never heard of.
  dispatcher_->Lost(old.piece.seat);
  EXPECT_EQ(probe.finished, 0);
  End(again);
  EXPECT_EQ(probe.outcome, Outcome::kOk);
  EXPECT_EQ(probe.retired, 1);
}

TEST_F(DispatcherWorkersTest, AWorkerElsewhereIsToldAndReports) {
  Start(0);
  FarLink::Notes notes;
  const scheduler::Seat seat =
      dispatcher_->Join({.memory_bytes = kMemory}, std::make_unique<FarLink>(&notes));
  EXPECT_EQ(notes.seat, seat);
  Probe probe(&diary_);
  Probe dropped(&diary_);
  Submit(probe);
  const TaskId id = Submit(dropped);
  ASSERT_EQ(notes.assigned.size(), 2U);
  EXPECT_EQ(notes.assigned[0].tag, Dispatcher::Tag(&probe));
  EXPECT_EQ(diary_.runs.size(), 0U);

  const std::vector<core::AttemptEnd> end = {{.attempt = notes.assigned[0].attempt}};
  dispatcher_->Report({seat.worker, seat.incarnation + 1}, end);  // Nobody has this seat.
  EXPECT_EQ(probe.finished, 0);
  dispatcher_->Report(seat, end);
  dispatcher_->Report(seat, end);
  EXPECT_EQ(probe.outcome, Outcome::kOk);
  EXPECT_EQ(probe.retired, 1);

  dispatcher_->Cancel({&id, 1});
  EXPECT_EQ(dropped.outcome, Outcome::kCancelled);
  EXPECT_EQ(notes.dropped, std::vector<AttemptId>{notes.assigned[1].attempt});
  EXPECT_FALSE(notes.gone);
  dispatcher_->Lost(seat);
  EXPECT_TRUE(notes.gone);
}

}  // namespace
}  // namespace shoal::runtime
