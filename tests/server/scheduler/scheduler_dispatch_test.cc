// The dispatch pass where memory is short: who waits, who may pass, who is held for, and for how
// long.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/server/scheduler/harness.h"

namespace shoal::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SchedulerDispatchTest, ReservationsAndStoredArraysStayBelowTheLimit) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Store(0, 400);
  EXPECT_THAT(h.Submit(1, 600), ElementsAre("1.0 -> 0"));
  EXPECT_THAT(h.Submit(2, 1), IsEmpty());
  EXPECT_THAT(h.Submit(3, 0), ElementsAre("3.0 -> 0")) << "it needs none, so it fits";
  EXPECT_THAT(h.End(1), ElementsAre("2.0 -> 0", "1 OK"));
}

TEST(SchedulerDispatchTest, FreedArraysLetWaitingPiecesIn) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Store(0, 900);
  EXPECT_THAT(h.Submit(1, 300), IsEmpty());
  EXPECT_THAT(h.Store(0, 700), ElementsAre("1.0 -> 0"));
}

TEST(SchedulerDispatchTest, SmallPiecesPassALargeOneOnOtherWorkers) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Join(1, 500, 10);
  EXPECT_THAT(h.Submit(1, 400), ElementsAre("1.0 -> 0"));
  EXPECT_THAT(h.Submit(2, 900), IsEmpty()) << "only worker 0 can ever hold it";
  EXPECT_THAT(h.Submit(3, 300), ElementsAre("3.0 -> 1")) << "worker 0 is held for task 2";
  EXPECT_THAT(h.Submit(4, 300), IsEmpty()) << "it would fit on worker 0, which is held";
  EXPECT_THAT(h.End(3), ElementsAre("4.0 -> 1", "3 OK"));
  EXPECT_THAT(h.End(1), ElementsAre("2.0 -> 0", "1 OK"));
}

// A stream of small tasks keeps the worker's memory in use for ever; the large one gets in all the
// same, after the attempts that were there before it.
TEST(SchedulerDispatchTest, StreamOfSmallPiecesDoesNotStarveALargeOne) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Submit({{.tag = 1, .piece = Needs(300)}, {.tag = 2, .piece = Needs(300)}});
  EXPECT_THAT(h.Submit(100, 1000), IsEmpty());
  EXPECT_THAT(h.Submit(3, 300), IsEmpty());
  EXPECT_THAT(h.End(1), ElementsAre("1 OK"));
  EXPECT_THAT(h.End(2), ElementsAre("100.0 -> 0", "2 OK"));
  EXPECT_THAT(h.End(100), ElementsAre("3.0 -> 0", "100 OK"));
}

TEST(SchedulerDispatchTest, HoldEndsWithTheTaskItWasFor) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Submit(1, 300);
  h.Submit(2, 1000);
  h.Submit(3, 300);
  EXPECT_THAT(h.Cancel(2), ElementsAre("3.0 -> 0", "2 CANCELLED"));
}

TEST(SchedulerDispatchTest, HoldMovesWhenItsWorkerIsLost) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Join(1, 1000, 10);
  h.Submit({{.tag = 1, .piece = Needs(300)}, {.tag = 2, .piece = Needs(500)}});
  EXPECT_THAT(h.Submit(3, 1000), IsEmpty()) << "worker 0 has the most free memory and is held";
  EXPECT_THAT(h.Submit(4, 100), ElementsAre("4.0 -> 1"));
  EXPECT_THAT(h.Cancel(1), ElementsAre("stop 1.0 on 0", "1 CANCELLED"));
  EXPECT_THAT(h.Lose(0), IsEmpty());
  EXPECT_THAT(h.Submit(5, 100), IsEmpty()) << "worker 1 is held now";
  EXPECT_THAT(h.End(2), ElementsAre("2 OK"));
  EXPECT_THAT(h.End(4), ElementsAre("3.0 -> 1", "4 OK"));
  EXPECT_THAT(h.End(3), ElementsAre("5.0 -> 1", "3 OK"));
}

TEST(SchedulerDispatchTest, OnlySoManyStepAsideThenHeavyOnesWaitAndLightOnesPass) {
  Harness h;
  h.Join(0, 1000, 100);
  h.Join(1, 100, 100);
  h.Submit(1, 950);
  std::vector<Submission> large;
  for (uint64_t i = 0; i < SchedulerState::kParkedMax; ++i) {
    large.push_back({.tag = 100 + i, .piece = Needs(900)});
  }
  EXPECT_THAT(h.Submit(large), IsEmpty());
  EXPECT_EQ(h.core.counts().parked, SchedulerState::kParkedMax);
  EXPECT_THAT(h.Submit(2, 10), IsEmpty()) << "the window is full";
  EXPECT_THAT(h.Submit(3, 0), ElementsAre("3.0 -> 1"));
  EXPECT_THAT(h.End(1), ElementsAre("100.0 -> 0", "2.0 -> 1", "1 OK"));
}

TEST(SchedulerDispatchTest, LightPiecesGoToAHeldWorkerToo) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Submit(1, 600);
  h.Submit({{.tag = 2, .piece = Needs(600, WorkerId{0})}, {.tag = 3, .piece = Needs(900)}});
  EXPECT_THAT(h.Submit({{.tag = 4}, {.tag = 5, .piece = Needs(0, WorkerId{0})}}),
              ElementsAre("4.0 -> 0"))
      << "task 5 is behind task 2 in the worker's own order";
  EXPECT_THAT(h.End(1), ElementsAre("2.0 -> 0", "5.0 -> 0", "1 OK"));
  EXPECT_THAT(h.End(2), ElementsAre("3.0 -> 0", "2 OK"));
}

TEST(SchedulerDispatchTest, PinnedPieceThatWaitsForMemoryKeepsYoungerOnesOut) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Submit(1, 600);
  EXPECT_THAT(h.Submit({{.tag = 2, .piece = Needs(600, WorkerId{0})},
                        {.tag = 3, .piece = Needs(100, WorkerId{0})},
                        {.tag = 4, .piece = Needs(100)}}),
              IsEmpty());
  EXPECT_THAT(h.End(1), ElementsAre("2.0 -> 0", "3.0 -> 0", "4.0 -> 0", "1 OK"));
}

TEST(SchedulerDispatchTest, OlderFloatingPieceGoesBeforeAPinnedOneOnTheHeldWorker) {
  Harness h;
  h.Join(0, 1000, 10);
  h.Submit(1, 600);
  h.Submit(2, 900);
  EXPECT_THAT(h.Submit({{.tag = 3, .piece = Needs(100, WorkerId{0})}}), IsEmpty());
  EXPECT_THAT(h.End(1), ElementsAre("2.0 -> 0", "3.0 -> 0", "1 OK"));
}

TEST(SchedulerDispatchTest, PieceThatStoredArraysKeepOutWaitsABoundedTime) {
  Harness h({.memory_wait = seconds(1)});
  h.Join(0, 1000, 10);
  h.Store(0, 900);
  EXPECT_THAT(h.Submit(1, 200), IsEmpty());
  EXPECT_THAT(h.Submit(2, 100), ElementsAre("2.0 -> 0")) << "nothing is held for what cannot come";
  EXPECT_THAT(h.TickAt(At(milliseconds(999))), IsEmpty());
  EXPECT_LE(h.core.NextWakeup(), At(seconds(1) + milliseconds(2)));
  EXPECT_THAT(h.TickAt(At(seconds(1) + milliseconds(2))), ElementsAre("1 MEMORY_FULL"));
  EXPECT_EQ(h.actions.finished[0].needed_bytes, 200);
  EXPECT_EQ(h.actions.finished[0].limit_bytes, 100);
}

TEST(SchedulerDispatchTest, PinnedPieceThatStoredArraysKeepOutWaitsABoundedTime) {
  Harness h({.memory_wait = seconds(1)});
  h.Join(0, 1000, 10);
  h.Join(1, 1000, 10);
  h.Store(0, 900);
  EXPECT_THAT(h.Submit({{.tag = 1, .piece = Needs(200, WorkerId{0})}}), IsEmpty());
  EXPECT_THAT(h.TickAt(At(seconds(1) + milliseconds(2))), ElementsAre("1 MEMORY_FULL"));
  EXPECT_EQ(h.actions.finished[0].worker, WorkerId{0});
}

TEST(SchedulerDispatchTest, WaitForStoredArraysEndsWhenTheyGo) {
  Harness h({.memory_wait = seconds(1)});
  h.Join(0, 1000, 10);
  h.Submit(1, 500);
  h.Store(0, 900);
  EXPECT_THAT(h.Submit(2, 600), IsEmpty());
  EXPECT_THAT(h.Store(0, 0), IsEmpty()) << "now it waits for task 1 only";
  EXPECT_THAT(h.TickAt(At(seconds(5))), IsEmpty());
  EXPECT_THAT(h.End(1), ElementsAre("2.0 -> 0", "1 OK"));
}

TEST(SchedulerDispatchTest, LostLargestWorkerLeavesNoPieceWaitingForEver) {
  Harness h({.memory_wait = seconds(1)});
  h.Join(0, 1000, 1);
  h.Join(1, 100, 1);
  h.Submit(1, 900);
  h.Submit(2, 900);
  EXPECT_THAT(h.Lose(0), IsEmpty());
  EXPECT_THAT(h.TickAt(At(seconds(1) + milliseconds(2))),
              ::testing::UnorderedElementsAre("1 MEMORY_FULL", "2 MEMORY_FULL"));
}

}  // namespace
}  // namespace shoal::scheduler
