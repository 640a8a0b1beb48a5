#include "server/runtime/dispatcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "server/runtime/clock.h"
#include "tests/server/runtime/probe.h"
#include "tests/support/eventually.h"
#include "tests/support/inbox.h"

namespace shoal::runtime {
namespace {

using core::AttemptOutcome;
using scheduler::Outcome;
using support::Inbox;

class DispatcherTest : public ::testing::Test {
 protected:
  TaskId Submit(Probe& probe, scheduler::Submission task = {}) {
    task.tag = Dispatcher::Tag(&probe);
    if (task.piece.cost == Duration()) task.piece.cost = Duration(1);
    std::vector<TaskId> ids;
    dispatcher().Submit({&task, 1}, &ids);
    EXPECT_EQ(ids.size(), 1U);
    return ids[0];
  }

  void End(const Diary::Run& run, AttemptOutcome outcome = AttemptOutcome::kOk) {
    dispatcher().End(run.piece, {.attempt = run.piece.attempt, .outcome = outcome}, run.body);
  }

  Dispatcher& dispatcher() { return *dispatcher_; }

  Diary diary_;
  std::vector<WorkerSeat> seats_{{.memory_bytes = 1000}};
  scheduler::Options options_;
  std::optional<Dispatcher> dispatcher_{std::in_place, options_, "least_load", seats_};
};

TEST_F(DispatcherTest, ATaskThatEndsAtOnceIsFinishedOnTheSubmittingThread) {
  Probe probe(&diary_, AttemptOutcome::kOk);
  EXPECT_TRUE(Submit(probe));
  EXPECT_EQ(probe.finished, 1);
  EXPECT_EQ(probe.retired, 1);
  EXPECT_EQ(probe.run_thread, std::this_thread::get_id());
  EXPECT_EQ(probe.finish_thread, std::this_thread::get_id());
  EXPECT_EQ(dispatcher().Counts().tasks, 0);
}

TEST_F(DispatcherTest, AThousandAtOnceAreAllDoneBeforeSubmitReturns) {
  std::deque<Probe> probes;
  std::vector<scheduler::Submission> tasks;
  for (int i = 0; i < 1000; ++i) {
    Probe& probe = probes.emplace_back(&diary_, AttemptOutcome::kOk);
    tasks.push_back({.tag = Dispatcher::Tag(&probe), .piece = {.cost = Duration(100)}});
  }
  dispatcher().Submit(tasks, nullptr);
  EXPECT_EQ(diary_.finished, 1000);
  EXPECT_EQ(diary_.retired, 1000);
}

TEST_F(DispatcherTest, ATaskThatEndsLaterIsFinishedByWhoeverEndsIt) {
  Probe probe(&diary_);
  Submit(probe);
  EXPECT_EQ(probe.finished, 0);
  std::thread ender([&] { End(diary_.runs.Take()); });
  const std::thread::id id = ender.get_id();
  ender.join();
  EXPECT_EQ(probe.finish_thread, id);
  EXPECT_EQ(probe.retired, 1);
}

TEST_F(DispatcherTest, OneLaneRunsOneTaskAfterAnother) {
  Probe first(&diary_);
  Probe second(&diary_);
  Submit(first);
  Submit(second);
  const Diary::Run run = diary_.runs.Take();
  EXPECT_EQ(run.body, &first);
  EXPECT_EQ(diary_.runs.size(), 0U);
  End(run);
  const Diary::Run next = diary_.runs.Take();
  EXPECT_EQ(next.body, &second);
  End(next);
  EXPECT_EQ(second.outcome, Outcome::kOk);
}

TEST_F(DispatcherTest, FailuresReachTheTask) {
  Probe inline_failure(&diary_, AttemptOutcome::kFailed);
  Submit(inline_failure);
  EXPECT_EQ(inline_failure.outcome, Outcome::kFailed);
  Probe late_failure(&diary_);
  Submit(late_failure);
  diary_.runs.Take();
  End(diary_.runs.Take(), AttemptOutcome::kFailed);
  EXPECT_EQ(late_failure.outcome, Outcome::kFailed);
}

TEST_F(DispatcherTest, CancellingWhatWaitsFinishesItAtOnceAndItNeverRuns) {
  Probe first(&diary_);
  Probe second(&diary_);
  Submit(first);
  const TaskId id = Submit(second);
  dispatcher().Cancel({&id, 1});
  EXPECT_EQ(second.outcome, Outcome::kCancelled);
  EXPECT_EQ(second.retired, 1);
  dispatcher().Cancel({&id, 1});  // Ended: ignored.
  End(diary_.runs.Take());
  EXPECT_EQ(diary_.runs.size(), 0U);
}

TEST_F(DispatcherTest, CancellingWhatRunsFinishesItAndRetiresItWhenItHasEnded) {
  Probe probe(&diary_);
  const TaskId id = Submit(probe);
  EXPECT_FALSE(*probe.cancel_flag());
  dispatcher().Cancel({&id, 1});
  EXPECT_TRUE(*probe.cancel_flag());
  EXPECT_EQ(probe.outcome, Outcome::kCancelled);
  EXPECT_EQ(probe.retired, 0);
  End(diary_.runs.Take(), AttemptOutcome::kCancelled);
  EXPECT_EQ(probe.retired, 1);
}

TEST_F(DispatcherTest, ADeadlinePassesWhileItRuns) {
  std::deque<Probe> probes;
  // On a machine that is slow just now it may pass before the task is even submitted.
  while (diary_.runs.size() == 0) {
    Submit(probes.emplace_back(&diary_), {.deadline = Now() + std::chrono::milliseconds(5)});
    EXPECT_EQ(diary_.ends.Take(), Outcome::kDeadlineExceeded);
  }
  EXPECT_EQ(probes.back().retired, 0);
  EXPECT_TRUE(*probes.back().cancel_flag());
  End(diary_.runs.Take(), AttemptOutcome::kCancelled);
  dispatcher_.reset();  // The timer's thread may be the last to let go of it.
  EXPECT_EQ(probes.back().retired, 1);
}

TEST_F(DispatcherTest, ADeadlinePassesInTheQueueOrHasPassedBefore) {
  Probe running(&diary_);
  Submit(running);
  const Diary::Run run = diary_.runs.Take();
  Probe waiting(&diary_);
  Submit(waiting, {.deadline = Now() + std::chrono::milliseconds(1)});
  EXPECT_EQ(diary_.ends.Take(), Outcome::kDeadlineExceeded);
  Probe late(&diary_, AttemptOutcome::kOk);
  Submit(late, {.deadline = Now() - Duration(1)});
  EXPECT_EQ(late.outcome, Outcome::kDeadlineExceeded);
  End(run);
  EXPECT_EQ(running.outcome, Outcome::kOk);
  EXPECT_EQ(diary_.runs.size(), 0U);  // Neither ever ran.
  dispatcher_.reset();                // The timer's thread may be the last to let go of one.
}

TEST_F(DispatcherTest, TasksBeyondTheQueueAreRefusedAtOnce) {
  options_.queue_pieces_max = 1;
  seats_[0].slots = 1;
  dispatcher_.emplace(options_, "least_load", seats_);
  Probe running(&diary_);
  Probe waiting(&diary_, AttemptOutcome::kOk);
  Probe refused(&diary_, AttemptOutcome::kOk);
  Submit(running);
  Submit(waiting);
  EXPECT_FALSE(Submit(refused));
  EXPECT_EQ(refused.outcome, Outcome::kQueueFull);
  EXPECT_EQ(refused.retired, 1);
  End(diary_.runs.Take());
  EXPECT_EQ(waiting.outcome, Outcome::kOk);
}

TEST_F(DispatcherTest, PiecesRunOnTheirWorkersAndFinishOnce) {
  seats_.resize(3, {.memory_bytes = 1000});
  dispatcher_.emplace(options_, "least_load", seats_);
  Probe probe(&diary_);
  const std::vector<scheduler::Piece> more = {{.pinned = WorkerId{0}, .cost = Duration(1)},
                                              {.pinned = WorkerId{1}, .cost = Duration(1)}};
  Submit(probe, {.piece = {.pinned = WorkerId{2}}, .more = more});
  const int32_t wanted[] = {2, 0, 1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(probe.finished, 0);
    const Diary::Run run = diary_.runs.Take();
    EXPECT_EQ(run.piece.seat.worker.value, wanted[run.piece.piece]);
    End(run);
  }
  EXPECT_EQ(probe.outcome, Outcome::kOk);
  EXPECT_EQ(probe.retired, 1);
}

TEST_F(DispatcherTest, APieceThatFailsStopsTheOthers) {
  seats_.resize(2, {.memory_bytes = 1000});
  dispatcher_.emplace(options_, "least_load", seats_);
  Probe probe(&diary_);
  const std::vector<scheduler::Piece> more = {{.pinned = WorkerId{1}, .cost = Duration(1)}};
  Submit(probe, {.piece = {.pinned = WorkerId{0}}, .more = more});
  End(diary_.runs.Take(), AttemptOutcome::kFailed);
  EXPECT_EQ(probe.outcome, Outcome::kFailed);
  EXPECT_TRUE(*probe.cancel_flag());
  EXPECT_EQ(probe.retired, 0);
  End(diary_.runs.Take(), AttemptOutcome::kCancelled);
  EXPECT_EQ(probe.retired, 1);
}

TEST_F(DispatcherTest, DrainIsToldOnceNothingRunsAndRefusesWhatComesThen) {
  Probe probe(&diary_);
  Submit(probe);
  int told = 0;
  dispatcher().Drain([&] { ++told; });
  Probe refused(&diary_);
  EXPECT_FALSE(Submit(refused));
  EXPECT_EQ(refused.outcome, Outcome::kDraining);
  EXPECT_EQ(told, 0);
  End(diary_.runs.Take());
  EXPECT_EQ(told, 1);
  dispatcher().Drain([&] { told += 10; });  // Idle: at once.
  EXPECT_EQ(told, 11);
}

TEST_F(DispatcherTest, DrainWaitsUntilTheLastEndHasBeenTold) {
  Inbox<bool> let_finish;
  Probe probe(&diary_);
  probe.block_finish = &let_finish;
  Submit(probe);
  std::thread ender([&] { End(diary_.runs.Take()); });
  EXPECT_TRUE(support::Eventually([&] { return probe.finished != 0; }));
  std::atomic<bool> told = false;
  dispatcher().Drain([&] { told = true; });
  EXPECT_FALSE(told);  // The body is still being told.
  let_finish.Put(true);
  ender.join();
  EXPECT_TRUE(told);
}

TEST_F(DispatcherTest, MayGoAsSoonAsTheLastEndWasTold) {
  for (int i = 0; i < 100; ++i) {
    Diary diary;
    Probe probe(&diary);
    dispatcher_.emplace(options_, "least_load", seats_);
    Submit(probe);
    // A copy of nothing: the thread touches the dispatcher only through End.
    std::thread ender([&diary, dispatcher = &*dispatcher_] {
      const Diary::Run run = diary.runs.Take();
      dispatcher->End(run.piece, {.attempt = run.piece.attempt}, run.body);
    });
    diary.ends.Take();
    dispatcher_.reset();  // Waits for the ender to leave.
    EXPECT_EQ(probe.retired, 1);
    ender.join();
  }
}

TEST_F(DispatcherTest, RacingCancelsAndEndsFinishAndRetireEachTaskOnce) {
  constexpr int kTasks = 400;
  seats_.assign(2, {.memory_bytes = 1000, .lanes = 3});
  dispatcher_.emplace(options_, "least_load", seats_);
  std::deque<Probe> probes;
  Inbox<TaskId> ids;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (Diary::Run run = diary_.runs.Take(); run.body != nullptr; run = diary_.runs.Take()) {
        const bool cancelled = *run.body->cancel_flag();
        End(run, cancelled ? AttemptOutcome::kCancelled : AttemptOutcome::kOk);
      }
    });
    threads.emplace_back([&] {
      for (TaskId id = ids.Take(); id; id = ids.Take()) dispatcher().Cancel({&id, 1});
    });
  }
  const Instant now = Now();
  for (int i = 0; i < kTasks; ++i) {
    const Instant deadline = i % 5 == 0 ? now + std::chrono::microseconds(50 * i) : kNever;
    const TaskId id = Submit(probes.emplace_back(&diary_), {.deadline = deadline});
    if (i % 2 == 0) ids.Put(id);
    if (i % 7 == 0) ids.Put(id);
    dispatcher().SetStored(WorkerId{i % 2}, i);
  }
  for (int i = 0; i < kTasks; ++i) diary_.ends.Take();
  EXPECT_TRUE(support::Eventually([&] { return diary_.retired == kTasks; }));
  for (int i = 0; i < 2; ++i) {
    diary_.runs.Put({});
    ids.Put({});
  }
  for (std::thread& thread : threads) thread.join();
  for (const Probe& probe : probes) {
    EXPECT_EQ(probe.finished, 1);
    EXPECT_EQ(probe.retired, 1);
  }
}

}  // namespace
}  // namespace shoal::runtime
