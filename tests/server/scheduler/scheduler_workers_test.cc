// Workers that join, drain, are lost, and come back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/server/scheduler/harness.h"

namespace shoal::scheduler {
namespace {

using core::AttemptOutcome;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SchedulerWorkersTest, LostAttemptsGoElsewhereAtTheirOldPlace) {
  Harness h;
  h.Join(0, 1000, 2);
  h.Join(1, 1000, 2);
  h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}, {.tag = 4}, {.tag = 5}});
  EXPECT_THAT(h.Lose(0), IsEmpty()) << "worker 1 is full";
  EXPECT_THAT(h.End(2), ElementsAre("1.0 -> 1", "2 OK"));
  EXPECT_THAT(h.End(4), ElementsAre("3.0 -> 1", "4 OK"));
  EXPECT_THAT(h.End(1), ElementsAre("5.0 -> 1", "1 OK"));
}

TEST(SchedulerWorkersTest, LateEndOfALostAttemptIsDropped) {
  Harness h;
  h.Join(0);
  h.Submit(1);
  const AttemptId lost = h.attempt(1);
  const Seat seat = h.SeatOf(WorkerId{0});
  h.Join(1);
  EXPECT_THAT(h.Lose(0), ElementsAre("1.0 -> 1"));
  EXPECT_NE(h.attempt(1), lost);
  const std::vector<core::AttemptEnd> ends{{lost, AttemptOutcome::kOk, 0}};
  EXPECT_THAT(h.Handle(At({}), AttemptsEnded{seat, ends}), IsEmpty());
  EXPECT_THAT(h.End(1), ElementsAre("1 OK"));
}

TEST(SchedulerWorkersTest, RetriesAreCountedExactly) {
  for (const int32_t retries_max : {0, 1, 3}) {
    Harness h({.retries_max = retries_max});
    h.Join(0);
    h.Submit(1);
    for (int32_t loss = 0; loss < retries_max; ++loss) {
      EXPECT_THAT(h.Lose(0), IsEmpty()) << retries_max;
      EXPECT_THAT(h.Join(0, 1000, 2, static_cast<uint64_t>(loss) + 2), ElementsAre("1.0 -> 0"));
    }
    EXPECT_THAT(h.Lose(0), ElementsAre("1 WORKER_LOST")) << retries_max;
    EXPECT_EQ(h.core.counts().retried, static_cast<uint64_t>(retries_max));
  }
}

TEST(SchedulerWorkersTest, WhatIsNotSafeToRetryEndsWithItsWorker) {
  Harness h;
  h.Join(0);
  h.Join(1);
  h.Submit({{.tag = 1, .retry_safe = false}});
  EXPECT_THAT(h.Lose(0), ElementsAre("1 WORKER_LOST"));
  EXPECT_EQ(h.actions.finished[0].worker, WorkerId{0});
}

TEST(SchedulerWorkersTest, PiecesPinnedToALostWorkerEndTheirTasks) {
  Harness h;
  h.Join(0, 1000, 1);
  h.Join(1, 1000, 1);
  const std::vector<Piece> more{Needs(0, WorkerId{1})};
  h.Submit({{.tag = 1, .piece = Needs(0, WorkerId{0}), .more = more},
            {.tag = 2, .piece = Needs(0, WorkerId{0}), .more = more}});
  EXPECT_THAT(h.Lose(0), ElementsAre("stop 1.1 on 1", "1 SHARD_LOST", "2 SHARD_LOST"));
  EXPECT_THAT(h.End(1, 1), IsEmpty());
  EXPECT_TRUE(h.core.idle());
}

TEST(SchedulerWorkersTest, NoStopIsSentToALostWorker) {
  Harness h;
  h.Join(0);
  const std::vector<Piece> more{Needs(0)};
  h.Submit({{.tag = 1, .piece = Needs(0), .more = more, .retry_safe = false}});
  EXPECT_THAT(h.Lose(0), ElementsAre("1 WORKER_LOST"));
  EXPECT_TRUE(h.core.idle());
}

TEST(SchedulerWorkersTest, NewIncarnationReplacesTheOldWithoutALossBetween) {
  Harness h;
  h.Join(0, 1000, 2, 1);
  h.Store(0, 500);
  h.Submit({{.tag = 1}, {.tag = 2, .piece = Needs(0, WorkerId{0})}});
  EXPECT_THAT(h.Join(0, 1000, 2, 2), ElementsAre("1.0 -> 0", "2 SHARD_LOST"));
  EXPECT_EQ(h.core.Find(WorkerId{0}).stored_bytes, 0);
}

TEST(SchedulerWorkersTest, WordsFromAnEarlierIncarnationAreDropped) {
  Harness h;
  h.Join(0, 1000, 2, 1);
  h.Join(0, 1000, 2, 3);
  h.Submit(1);
  const Seat old{WorkerId{0}, 1};
  EXPECT_THAT(h.Handle(At({}), WorkerLost{old}), IsEmpty());
  EXPECT_THAT(h.Handle(At({}), WorkerDraining{old}), IsEmpty());
  EXPECT_THAT(h.Handle(At({}), MemoryChanged{old, 999}), IsEmpty());
  EXPECT_THAT(h.Join(0, 1, 1, 2), IsEmpty());
  EXPECT_TRUE(h.core.Find(WorkerId{0}).alive);
  EXPECT_EQ(h.core.Find(WorkerId{0}).memory_bytes, 1000);
  EXPECT_EQ(h.core.counts().stale, 4U);
}

TEST(SchedulerWorkersTest, JoiningTwiceChangesTheFiguresOnly) {
  Harness h;
  h.Join(0, 1000, 1);
  h.Submit({{.tag = 1}, {.tag = 2}});
  EXPECT_THAT(h.Join(0, 1000, 2), ElementsAre("2.0 -> 0"));
  EXPECT_EQ(h.core.counts().workers, 1);
}

TEST(SchedulerWorkersTest, DrainingWorkerGetsPinnedPiecesOnly) {
  Harness h;
  h.Join(0);
  h.Join(1);
  EXPECT_THAT(h.Handle(At({}), WorkerDraining{h.SeatOf(WorkerId{0})}), IsEmpty());
  EXPECT_THAT(h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3, .piece = Needs(0, WorkerId{0})}}),
              ElementsAre("1.0 -> 1", "2.0 -> 1", "3.0 -> 0"));
}

TEST(SchedulerWorkersTest, RefusedAttemptGoesElsewhereAndCostsNoRetry) {
  Harness h({.retries_max = 0});
  h.Join(0);
  h.Join(1);
  h.Submit(1);
  EXPECT_THAT(h.End(1, 0, AttemptOutcome::kRefused), ElementsAre("1.0 -> 1"));
  EXPECT_TRUE(h.core.Find(WorkerId{0}).draining) << "it says so itself";
  EXPECT_THAT(h.End(1), ElementsAre("1 OK"));
}

TEST(SchedulerWorkersTest, RefusedPinnedAttemptEndsTheTask) {
  Harness h;
  h.Join(0);
  h.Submit({{.tag = 1, .piece = Needs(0, WorkerId{0})}});
  EXPECT_THAT(h.End(1, 0, AttemptOutcome::kRefused), ElementsAre("1 DRAINING"));
}

TEST(SchedulerWorkersTest, RefusedBatchComesBackInOrder) {
  Harness h;
  h.Join(0, 1000, 4);
  h.Submit({{.tag = 1}, {.tag = 2}, {.tag = 3}, {.tag = 4}, {.tag = 5}});
  std::vector<core::AttemptEnd> ends;
  for (const uint64_t tag : {3U, 1U, 2U, 4U}) {
    ends.push_back({h.attempt(tag), AttemptOutcome::kRefused, 0});
  }
  EXPECT_THAT(h.Handle(At({}), AttemptsEnded{h.SeatOf(WorkerId{0}), ends}), IsEmpty());
  EXPECT_THAT(h.Join(1, 1000, 9),
              ElementsAre("1.0 -> 1", "2.0 -> 1", "3.0 -> 1", "4.0 -> 1", "5.0 -> 1"));
}

TEST(SchedulerWorkersTest, WaitingTasksOutliveARestartOfTheOnlyWorker) {
  Harness h({.no_worker_wait = seconds(10)});
  h.Join(0, 1000, 1);
  h.Submit({{.tag = 1}, {.tag = 2}});
  h.Lose(0);
  EXPECT_EQ(h.core.NextWakeup(), At(seconds(10)));
  EXPECT_THAT(h.TickAt(At(seconds(2))), IsEmpty());
  EXPECT_THAT(h.Submit(3), ElementsAre("3 NO_WORKER")) << "the new is told at once";
  EXPECT_THAT(h.Join(0, 1000, 1, 2), ElementsAre("1.0 -> 0"));
  EXPECT_EQ(h.core.NextWakeup(), kNever);
}

TEST(SchedulerWorkersTest, WithoutAnyWorkerWaitingTasksEndInTheEnd) {
  Harness h({.no_worker_wait = seconds(10)});
  h.Join(0, 1000, 1);
  h.Submit({{.tag = 1}, {.tag = 2}});
  h.Lose(0);
  EXPECT_THAT(h.TickAt(At(seconds(10))), ElementsAre("1 NO_WORKER", "2 NO_WORKER"));
  EXPECT_TRUE(h.core.idle());
  EXPECT_EQ(h.core.NextWakeup(), kNever);
}

TEST(SchedulerWorkersTest, SeatsNeverTakenAreNotAlive) {
  Harness h;
  h.Join(3);
  EXPECT_FALSE(h.core.Find(WorkerId{0}).alive);
  EXPECT_FALSE(h.core.Find(WorkerId{9}).alive);
  EXPECT_FALSE(h.core.Find(kAnyWorker).alive);
  EXPECT_THAT(h.Submit(1), ElementsAre("1.0 -> 3"));
}

}  // namespace
}  // namespace shoal::scheduler
