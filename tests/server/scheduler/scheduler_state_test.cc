// Admission, order, placement, ends, cancellation and deadlines.

#include "server/scheduler/scheduler_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/server/scheduler/harness.h"

namespace shoal::scheduler {
namespace {

using core::AttemptOutcome;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A harness with `count` workers of 1000 bytes and 2 slots.
Harness WithWorkers(int32_t count, const Options& options = {}) {
  Harness h(options);
  for (int32_t i = 0; i < count; ++i) h.Join(i);
  return h;
}

// --- Admission ---

TEST(SchedulerStateTest, WithoutAWorkerATaskIsRefusedAtOnce) {
  Harness h;
  EXPECT_THAT(h.Submit(1), ElementsAre("1 NO_WORKER"));
  EXPECT_EQ(h.actions.accepted[0], TaskId{});
  EXPECT_GT(h.actions.finished[0].retry_after, Duration{});
}

TEST(SchedulerStateTest, WhatNoWorkerCouldEverHoldIsRefusedWithBothFigures) {
  Harness h;
  h.Join(0, 1000);
  h.Join(1, 2000);
  EXPECT_THAT(h.Submit(1, 2001), ElementsAre("1 NEVER_FITS"));
  EXPECT_EQ(h.actions.finished[0].needed_bytes, 2001);
  EXPECT_EQ(h.actions.finished[0].limit_bytes, 2000);
  EXPECT_THAT(h.Submit(2, 2000), ElementsAre("2.0 -> 1"));
}

TEST(SchedulerStateTest, PinnedPieceIsJudgedByItsOwnWorker) {
  Harness h;
  h.Join(0, 1000);
  h.Join(1, 2000);
  EXPECT_THAT(h.Submit({{.tag = 1, .piece = Needs(1001, WorkerId{0})}}),
              ElementsAre("1 NEVER_FITS"));
  EXPECT_THAT(h.Submit({{.tag = 2, .piece = Needs(1, WorkerId{7})}}), ElementsAre("2 SHARD_LOST"));
}

TEST(SchedulerStateTest, OnePieceThatCannotBeRefusesTheWholeTaskAndOnlyThat) {
  Harness h = WithWorkers(1);
  const std::vector<Piece> more{Needs(5000)};
  EXPECT_THAT(h.Submit({{.tag = 1, .piece = Needs(1), .more = more}, {.tag = 2}}),
              ElementsAre("2.0 -> 0", "1 NEVER_FITS"));
  EXPECT_EQ(h.core.counts().tasks, 1);
}

TEST(SchedulerStateTest, QueueLimitCountsWaitingPiecesOnly) {
  Harness h = WithWorkers(1, {.queue_pieces_max = 1});
  EXPECT_THAT(h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}, {.tag = 4}}),
              ElementsAre("1.0 -> 0", "2.0 -> 0", "4 QUEUE_FULL"));
  EXPECT_GT(h.actions.finished[0].retry_after, Duration{});
  EXPECT_THAT(h.End(1), ElementsAre("3.0 -> 0", "1 OK"));
  EXPECT_THAT(h.Submit(5), IsEmpty());
}

TEST(SchedulerStateTest, QueueLimitOfZeroAdmitsWhatStartsAtOnce) {
  Harness h = WithWorkers(1, {.queue_pieces_max = 0});
  EXPECT_THAT(h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}}),
              ElementsAre("1.0 -> 0", "2.0 -> 0", "3 QUEUE_FULL"));
}

TEST(SchedulerStateTest, QueueLimitInBytesLetsOneLargeTaskWait) {
  Harness h = WithWorkers(1, {.queue_bytes_max = 100});
  h.Submit({{.tag = 1}, {.tag = 2}});
  EXPECT_THAT(h.Submit(3, 500), IsEmpty()) << "alone it may exceed the limit";
  EXPECT_THAT(h.Submit(4, 1), ElementsAre("4 QUEUE_FULL"));
  EXPECT_THAT(h.Submit(5, 0), ElementsAre("5 QUEUE_FULL"));
}

TEST(SchedulerStateTest, DrainRefusesTheNewAndFinishesTheOld) {
  Harness h = WithWorkers(1);
  h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}});
  EXPECT_THAT(h.Handle(At(seconds(1)), Drain{}), IsEmpty());
  EXPECT_THAT(h.Submit(4), ElementsAre("4 DRAINING"));
  EXPECT_FALSE(h.core.idle());
  EXPECT_THAT(h.End(1), ElementsAre("3.0 -> 0", "1 OK"));
  h.End(2);
  EXPECT_THAT(h.End(3), ElementsAre("3 OK"));
  EXPECT_TRUE(h.core.idle());
}

// --- Order and placement ---

TEST(SchedulerStateTest, LeastLoadedWorkerIsChosenAndTiesGoToTheLowestId) {
  Harness h = WithWorkers(3);
  EXPECT_THAT(h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}, {.tag = 4}}),
              ElementsAre("1.0 -> 0", "4.0 -> 0", "2.0 -> 1", "3.0 -> 2"));
  h.End(3);
  EXPECT_THAT(h.Submit(5), ElementsAre("5.0 -> 2"));
}

TEST(SchedulerStateTest, LoadIsWorkNotCount) {
  Harness h = WithWorkers(2);
  Piece heavy;
  heavy.cost = seconds(1);
  Piece light;
  light.cost = milliseconds(1);
  EXPECT_THAT(
      h.Submit(
          {{.tag = 1, .piece = heavy}, {.tag = 2, .piece = light}, {.tag = 3, .piece = light}}),
      ElementsAre("1.0 -> 0", "2.0 -> 1", "3.0 -> 1"));
}

TEST(SchedulerStateTest, WaitingTasksStartInTheOrderOfTheirSubmission) {
  Harness h = WithWorkers(1);
  h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}, {.tag = 4}});
  EXPECT_THAT(h.End(2), ElementsAre("3.0 -> 0", "2 OK"));
  EXPECT_THAT(h.End(3), ElementsAre("4.0 -> 0", "3 OK"));
}

TEST(SchedulerStateTest, WindowOfWorkLimitsPrefetchBeyondTheLanes) {
  Harness h;
  h.Handle(At({}), WorkerJoined{.seat = {WorkerId{0}, 1},
                                .memory_bytes = 1000,
                                .slots = 100,
                                .lanes = 2,
                                .window = milliseconds(1)});
  Piece piece;
  piece.cost = seconds(1);
  EXPECT_THAT(
      h.Submit(
          {{.tag = 1, .piece = piece}, {.tag = 2, .piece = piece}, {.tag = 3, .piece = piece}}),
      ElementsAre("1.0 -> 0", "2.0 -> 0"));
  EXPECT_THAT(h.End(1), ElementsAre("3.0 -> 0", "1 OK"));
}

TEST(SchedulerStateTest, OlderOfPinnedAndFloatingGoesFirst) {
  Harness h;
  h.Join(0, 1000, 1);
  h.Submit(1);
  h.Submit({{.tag = 2, .piece = Needs(0, WorkerId{0})},
            {.tag = 3},
            {.tag = 4, .piece = Needs(0, WorkerId{0})}});
  EXPECT_THAT(h.End(1), ElementsAre("2.0 -> 0", "1 OK"));
  EXPECT_THAT(h.End(2), ElementsAre("3.0 -> 0", "2 OK"));
  EXPECT_THAT(h.End(3), ElementsAre("4.0 -> 0", "3 OK"));
}

TEST(SchedulerStateTest, PinnedPiecesOfAWorkerStartInOrder) {
  Harness h = WithWorkers(2);
  const std::vector<Piece> more{Needs(0, WorkerId{1})};
  EXPECT_THAT(h.Submit({{.tag = 1, .piece = Needs(0, WorkerId{0}), .more = more},
                        {.tag = 2, .piece = Needs(0, WorkerId{0}), .more = more},
                        {.tag = 3, .piece = Needs(0, WorkerId{0}), .more = more}}),
              ElementsAre("1.0 -> 0", "2.0 -> 0", "1.1 -> 1", "2.1 -> 1"));
  EXPECT_THAT(h.End(1, 0), ElementsAre("3.0 -> 0"));
  EXPECT_THAT(h.End(1, 1), ElementsAre("3.1 -> 1", "1 OK"));
}

TEST(SchedulerStateTest, AssignmentCarriesWhatTheWorkerNeeds) {
  Harness h = WithWorkers(1);
  const Piece piece{.reserve_bytes = 7, .cost = Duration{9}, .needs_inputs = true};
  h.Submit({{.tag = 4, .deadline = At(seconds(9)), .piece = piece}});
  const core::Assignment expected{.attempt = h.attempt(4),
                                  .task = h.task(4),
                                  .tag = 4,
                                  .reserve_bytes = 7,
                                  .cost = Duration{9},
                                  .deadline = At(seconds(9)),
                                  .piece = 0,
                                  .needs_inputs = true};
  EXPECT_THAT(h.actions.assigned.For(WorkerId{0}), ElementsAre(expected));
}

// --- Ends ---

TEST(SchedulerStateTest, TaskEndsWhenItsLastPieceEnds) {
  Harness h = WithWorkers(2);
  const std::vector<Piece> more{Needs(1), Needs(1)};
  h.Submit({{.tag = 1, .piece = Needs(1), .more = more}});
  EXPECT_THAT(h.End(1, 2), IsEmpty());
  EXPECT_THAT(h.End(1, 0), IsEmpty());
  EXPECT_THAT(h.End(1, 1), ElementsAre("1 OK"));
  EXPECT_TRUE(h.core.idle());
}

TEST(SchedulerStateTest, FirstFailureDecidesAndStopsTheOtherPieces) {
  Harness h = WithWorkers(1);
  const std::vector<Piece> more{Needs(1), Needs(1)};
  h.Submit({{.tag = 1, .piece = Needs(1), .more = more}, {.tag = 2}});
  EXPECT_THAT(h.End(1, 1, AttemptOutcome::kFailed),
              ElementsAre("2.0 -> 0", "stop 1.0 on 0", "1 FAILED"));
  EXPECT_EQ(h.actions.finished[0].attempt, h.attempt(1, 1));
  EXPECT_FALSE(h.core.IsLive(h.task(1)));
  EXPECT_EQ(h.core.counts().stopping, 1);
  EXPECT_THAT(h.End(1, 0, AttemptOutcome::kCancelled), IsEmpty());
  EXPECT_THAT(h.End(2), ElementsAre("2 OK"));
  EXPECT_TRUE(h.core.idle());
}

TEST(SchedulerStateTest, EachAttemptOutcomeHasItsTaskOutcome) {
  Harness h = WithWorkers(1);
  uint64_t tag = 0;
  const auto outcome_of = [&](AttemptOutcome outcome) {
    h.Submit(++tag);
    h.End(tag, 0, outcome);
    return h.actions.finished.at(0).outcome;
  };
  EXPECT_EQ(outcome_of(AttemptOutcome::kOk), Outcome::kOk);
  EXPECT_EQ(outcome_of(AttemptOutcome::kFailed), Outcome::kFailed);
  EXPECT_EQ(outcome_of(AttemptOutcome::kOutOfMemory), Outcome::kOutOfMemory);
  EXPECT_EQ(outcome_of(AttemptOutcome::kCancelled), Outcome::kCancelled);
  EXPECT_EQ(outcome_of(AttemptOutcome::kDeadlineExceeded), Outcome::kDeadlineExceeded);
}

TEST(SchedulerStateTest, RepeatedUnknownAndForgedEndsAreDroppedAndCounted) {
  Harness h = WithWorkers(2);
  h.Submit(1);
  const AttemptId attempt = h.attempt(1);
  h.End(1);
  const auto end = [&](WorkerId worker, AttemptId id) {
    const std::vector<core::AttemptEnd> ends{{id, AttemptOutcome::kOk, 0}};
    return h.Handle(At({}), AttemptsEnded{h.SeatOf(worker), ends});
  };
  EXPECT_THAT(end(WorkerId{0}, attempt), IsEmpty());
  EXPECT_THAT(end(WorkerId{0}, AttemptId{}), IsEmpty());
  EXPECT_THAT(end(WorkerId{0}, AttemptId{UINT64_MAX}), IsEmpty());
  h.Submit(2);
  EXPECT_THAT(end(WorkerId{1}, h.attempt(2)), IsEmpty()) << "it runs on worker 0";
  EXPECT_THAT(end(WorkerId{99}, h.attempt(2)), IsEmpty()) << "no such worker";
  EXPECT_EQ(h.core.counts().stale, 5U);
  EXPECT_THAT(h.End(2), ElementsAre("2 OK"));
}

TEST(SchedulerStateTest, IdsAreNeverUsedTwice) {
  Harness h = WithWorkers(1);
  std::vector<uint64_t> tasks;
  std::vector<uint64_t> attempts;
  for (uint64_t tag = 1; tag <= 100; ++tag) {
    h.Submit(tag);
    tasks.push_back(h.task(tag).value);
    attempts.push_back(h.attempt(tag).value);
    h.End(tag);
  }
  for (std::vector<uint64_t>* ids : {&tasks, &attempts}) {
    std::sort(ids->begin(), ids->end());
    EXPECT_EQ(std::adjacent_find(ids->begin(), ids->end()), ids->end());
    EXPECT_NE(ids->front(), 0U);
  }
}

// --- Cancellation ---

TEST(SchedulerStateTest, CancelTakesAWaitingTaskOutOfTheQueue) {
  Harness h = WithWorkers(1);
  h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}, {.tag = 4}});
  EXPECT_THAT(h.Cancel(3), ElementsAre("3 CANCELLED"));
  EXPECT_THAT(h.End(1), ElementsAre("4.0 -> 0", "1 OK"));
}

TEST(SchedulerStateTest, CancelledAttemptHoldsSlotAndMemoryUntilItEnds) {
  Harness h;
  h.Join(0, 1000, 1);
  h.Submit(1, 800);
  h.Submit(2, 800);
  EXPECT_THAT(h.Cancel(1), ElementsAre("stop 1.0 on 0", "1 CANCELLED"));
  EXPECT_EQ(h.core.Find(WorkerId{0}).reserved_bytes, 800);
  EXPECT_THAT(h.End(1, 0, AttemptOutcome::kCancelled), ElementsAre("2.0 -> 0"));
}

// Triton server #8078: a cancel racing with the completion must not answer twice.
TEST(SchedulerStateTest, CancelRacingWithCompletionGivesOneTerminalState) {
  Harness h = WithWorkers(1);
  h.Submit({{.tag = 1}, {.tag = 2}});
  EXPECT_THAT(h.Cancel(1), ElementsAre("stop 1.0 on 0", "1 CANCELLED"));
  EXPECT_THAT(h.End(1), IsEmpty()) << "it completed before the stop reached it";
  EXPECT_THAT(h.Cancel(1), IsEmpty()) << "twice is as once";
  EXPECT_THAT(h.End(2), ElementsAre("2 OK"));
  EXPECT_THAT(h.Cancel(2), IsEmpty()) << "it completed first";
  EXPECT_TRUE(h.core.idle());
}

TEST(SchedulerStateTest, UnknownTaskIdsAreIgnored) {
  Harness h = WithWorkers(1);
  h.Submit(1);
  const std::vector<TaskId> unknown{TaskId{}, TaskId{UINT64_MAX}, TaskId{h.task(1).value + 1}};
  EXPECT_THAT(h.Handle(At({}), TasksCancelled{unknown}), IsEmpty());
  EXPECT_EQ(h.core.counts().stale, 3U);
}

// --- Deadlines ---

TEST(SchedulerStateTest, DeadlineAlreadyPastIsAnsweredAtSubmission) {
  Harness h = WithWorkers(1);
  h.TickAt(At(seconds(1)));
  EXPECT_THAT(h.Submit(1, 0, At(seconds(1))), ElementsAre("1 DEADLINE"));
  EXPECT_THAT(h.Submit(2, 0, At({})), ElementsAre("2 DEADLINE"));
}

// Triton server #7512: a queue timeout behind a long job fires in the queue, not after the job.
TEST(SchedulerStateTest, DeadlineBehindALongJobFiresInTheQueue) {
  Harness h;
  h.Join(0, 1000, 1);
  h.Submit(1);
  EXPECT_THAT(h.Submit(2, 0, At(seconds(10))), IsEmpty());
  EXPECT_LE(h.core.NextWakeup(), At(seconds(10) + milliseconds(2)));
  EXPECT_THAT(h.TickAt(At(seconds(10) - microseconds(1))), IsEmpty());
  EXPECT_THAT(h.TickAt(At(seconds(10) + milliseconds(2))), ElementsAre("2 DEADLINE"));
  EXPECT_EQ(h.core.NextWakeup(), kNever);
  EXPECT_THAT(h.End(1), ElementsAre("1 OK"));
}

TEST(SchedulerStateTest, DeadlineStopsARunningAttempt) {
  Harness h = WithWorkers(1);
  h.Submit(1, 0, At(milliseconds(5)));
  EXPECT_THAT(h.TickAt(At(milliseconds(7))), ElementsAre("stop 1.0 on 0", "1 DEADLINE"));
  EXPECT_THAT(h.End(1), IsEmpty());
  EXPECT_TRUE(h.core.idle());
}

TEST(SchedulerStateTest, NothingStartsAfterItsDeadlineEvenWithinATick) {
  Harness h;
  h.Join(0, 1000, 1);
  h.Submit(1);
  h.Submit(2, 0, At(microseconds(1)));
  h.Submit(3);
  h.TickAt(At(microseconds(2)));
  EXPECT_THAT(h.End(1), ElementsAre("3.0 -> 0", "1 OK", "2 DEADLINE"));
}

TEST(SchedulerStateTest, EndedTaskDisarmsItsDeadline) {
  Harness h = WithWorkers(1);
  h.Submit(1, 0, At(seconds(1)));
  EXPECT_NE(h.core.NextWakeup(), kNever);
  h.End(1);
  EXPECT_EQ(h.core.NextWakeup(), kNever);
  EXPECT_THAT(h.TickAt(At(seconds(2))), IsEmpty());
}

// --- Our own driver's bugs ---

TEST(SchedulerStateDeathTest, ImpossibleEventsEndTheProcess) {
  Harness h = WithWorkers(1);
  h.TickAt(At(seconds(1)));
  EXPECT_DEATH(h.TickAt(At({})), "check failed: now >= now_");
  EXPECT_DEATH(h.Submit(1, -1), "check failed: piece.reserve_bytes >= 0");
  EXPECT_DEATH(h.Store(0, -1), "check failed: event.stored_bytes >= 0");
  EXPECT_DEATH(h.Join(-1), "check failed: index >= 0");
  EXPECT_DEATH(h.Join(1, 10, 0), "event.slots >= 1");
  EXPECT_DEATH(h.Join(1, 10, 1, 0), "event.seat.incarnation > 0");
  EXPECT_DEATH(SchedulerState({}, nullptr), "placement_ != nullptr");
}

}  // namespace
}  // namespace shoal::scheduler
