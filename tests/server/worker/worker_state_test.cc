#include "server/worker/worker_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace shoal::worker {
namespace {

using core::Assignment;
using core::AttemptEnd;
using core::AttemptOutcome;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

Instant At(Duration since_start) { return Instant{since_start}; }

std::string Name(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::kOk:
      return "OK";
    case AttemptOutcome::kFailed:
      return "FAILED";
    case AttemptOutcome::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case AttemptOutcome::kCancelled:
      return "CANCELLED";
    case AttemptOutcome::kDeadlineExceeded:
      return "DEADLINE";
    case AttemptOutcome::kRefused:
      return "REFUSED";
  }
  return "?";
}

/// An attempt of 10 µs that needs `reserve_bytes`.
Assignment Attempt(uint64_t id, int64_t reserve_bytes = 0) {
  return {.attempt = AttemptId{id},
          .tag = id,
          .reserve_bytes = reserve_bytes,
          .cost = microseconds(10)};
}

Assignment WithInputs(Assignment assignment) {
  assignment.needs_inputs = true;
  return assignment;
}

Assignment Until(Instant deadline, Assignment assignment) {
  assignment.deadline = deadline;
  return assignment;
}

/// A worker core whose actions read as text, all of one event at once and validated: "fetch 1",
/// "lane 0: 1 2", "interrupt 1", "release 1", "1 OK", in that order.
class Harness {
 public:
  explicit Harness(const Options& options = {.memory_bytes = 1000}) : core(options) {}

  Lines Handle(Instant now, const Event& event) {
    actions.Clear();
    core.Handle(now, event, &actions);
    now_ = now;
    EXPECT_EQ(core.Validate(), absl::OkStatus());
    Lines lines;
    for (const Fetch& f : actions.fetches) lines.push_back(absl::StrCat("fetch ", f.attempt.value));
    for (const LaunchBatch& batch : actions.batches) {
      std::string line = absl::StrCat("lane ", batch.lane, ":");
      for (int64_t i = batch.begin; i < batch.begin + batch.count; ++i) {
        absl::StrAppend(&line, " ", actions.launches[static_cast<size_t>(i)].attempt.value);
      }
      lines.push_back(line);
    }
    for (const Interrupt& i : actions.interrupts) {
      lines.push_back(absl::StrCat("interrupt ", i.attempt.value));
    }
    for (const Release& r : actions.releases) {
      lines.push_back(absl::StrCat("release ", r.attempt.value));
    }
    for (const AttemptEnd& end : actions.reports) {
      lines.push_back(absl::StrCat(end.attempt.value, " ", Name(end.outcome)));
    }
    return lines;
  }

  Lines Assign(std::vector<Assignment> assignments) {
    return Handle(now_, AttemptsAssigned{++batch_, assignments});
  }

  Lines Launched(std::vector<uint64_t> attempts, AttemptOutcome outcome = AttemptOutcome::kOk) {
    std::vector<AttemptEnd> ends;
    for (const uint64_t id : attempts) ends.push_back({AttemptId{id}, outcome, 64});
    return Handle(now_, LaunchesEnded{ends});
  }

  Lines Drop(std::vector<uint64_t> attempts) {
    std::vector<AttemptId> ids;
    for (const uint64_t id : attempts) ids.push_back(AttemptId{id});
    return Handle(now_, AttemptsDropped{ids});
  }

  Lines Inputs(uint64_t attempt, bool ok = true) {
    return Handle(now_, InputsReady{AttemptId{attempt}, ok});
  }

  WorkerState core;
  Actions actions;  // Of the last event.

 private:
  Instant now_{};
  uint64_t batch_ = 0;
};

// --- The straight way ---

TEST(WorkerStateTest, AttemptWithoutInputsIsLaunchedAtOnceAndReported) {
  Harness h;
  EXPECT_THAT(h.Assign({Attempt(1, 100)}), ElementsAre("lane 0: 1"));
  EXPECT_EQ(h.core.reserved_bytes(), 100);
  EXPECT_THAT(h.Launched({1}), ElementsAre("1 OK"));
  EXPECT_THAT(h.actions.reports, ElementsAre(AttemptEnd{AttemptId{1}, AttemptOutcome::kOk, 64}));
  EXPECT_EQ(h.core.reserved_bytes(), 0);
  EXPECT_TRUE(h.core.idle());
}

TEST(WorkerStateTest, InputsAreFetchedBeforeTheLaunchAndReleasedAfterIt) {
  Harness h;
  EXPECT_THAT(h.Assign({WithInputs(Attempt(1, 100))}), ElementsAre("fetch 1"));
  EXPECT_EQ(h.core.reserved_bytes(), 0) << "memory is reserved once it can be used";
  EXPECT_THAT(h.Inputs(1), ElementsAre("lane 0: 1"));
  EXPECT_THAT(h.Launched({1}), ElementsAre("release 1", "1 OK"));
}

TEST(WorkerStateTest, InputsThatCannotBeHadFailTheAttempt) {
  Harness h;
  h.Assign({WithInputs(Attempt(1))});
  EXPECT_THAT(h.Inputs(1, false), ElementsAre("1 FAILED"));
  EXPECT_TRUE(h.core.idle());
}

TEST(WorkerStateTest, FailureOfALaunchIsReportedAsItIs) {
  Harness h;
  h.Assign({Attempt(1), Attempt(2)});
  EXPECT_THAT(h.Launched({1}, AttemptOutcome::kFailed), ElementsAre("1 FAILED"));
  EXPECT_THAT(h.Launched({2}, AttemptOutcome::kOutOfMemory), ElementsAre("2 OUT_OF_MEMORY"));
}

TEST(WorkerStateTest, CountsAsFailedWhatWentWrongAndNotWhatWasGivenUp) {
  Harness h;
  h.Assign({Attempt(1), Attempt(2), Attempt(3), Attempt(4, 2000), WithInputs(Attempt(5))});
  h.Launched({1});
  h.Launched({2}, AttemptOutcome::kFailed);
  h.Drop({3});
  h.Launched({3}, AttemptOutcome::kFailed);  // Too late: it was given up.
  h.Inputs(5, false);
  EXPECT_EQ(h.core.counts().reported, 5U);
  EXPECT_EQ(h.core.counts().failed, 3U) << "2 by itself, 4 beyond the limit, 5 for its inputs";
}

// --- Lanes and batches ---

TEST(WorkerStateTest, ReadyAttemptsAreSpreadOverTheFreeLanes) {
  Harness h({.memory_bytes = 1000, .lanes = 2});
  EXPECT_THAT(h.Assign({Attempt(1), Attempt(2), Attempt(3), Attempt(4), Attempt(5)}),
              ElementsAre("lane 0: 1 2 3", "lane 1: 4 5"));
  EXPECT_THAT(h.Assign({Attempt(6), Attempt(7)}), IsEmpty());
  EXPECT_THAT(h.Launched({4}), ElementsAre("4 OK")) << "the lane still has 5";
  EXPECT_THAT(h.Launched({5}), ElementsAre("lane 1: 6 7", "5 OK"));
}

TEST(WorkerStateTest, BatchIsBoundedInCountAndInEstimatedWork) {
  Harness h({.memory_bytes = 1000, .batch_max = 3, .batch_cost_max = microseconds(20)});
  EXPECT_THAT(h.Assign({Attempt(1), Attempt(2), Attempt(3)}), ElementsAre("lane 0: 1 2"));
  Assignment tiny = Attempt(4);
  tiny.cost = Duration{1};
  std::vector<Assignment> many;
  for (uint64_t id = 4; id < 8; ++id) {
    tiny.attempt = AttemptId{id};
    many.push_back(tiny);
  }
  h.Assign(many);
  EXPECT_THAT(h.Launched({1, 2}), ElementsAre("lane 0: 3 4 5", "1 OK", "2 OK"));
}

TEST(WorkerStateTest, LongAndUnknownAttemptsGoAlone) {
  Harness h({.memory_bytes = 1000, .batch_cost_max = microseconds(20)});
  Assignment unknown = Attempt(1);
  unknown.cost = Duration{};
  Assignment longer = Attempt(2);
  longer.cost = seconds(1);
  EXPECT_THAT(h.Assign({unknown, longer, Attempt(3)}), ElementsAre("lane 0: 1"));
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 2", "1 OK"));
  EXPECT_THAT(h.Launched({2}), ElementsAre("lane 0: 3", "2 OK"));
}

// --- Memory ---

TEST(WorkerStateTest, MemoryIsReservedInTurnWhateverTheSize) {
  Harness h({.memory_bytes = 1000, .lanes = 4});
  EXPECT_THAT(h.Assign({Attempt(1, 600), Attempt(2, 600), Attempt(3, 100)}),
              ElementsAre("lane 0: 1"));
  EXPECT_EQ(h.core.counts().waiting_for_memory, 2);
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 2", "lane 1: 3", "1 OK"));
}

TEST(WorkerStateTest, FreedArraysLetWaitingAttemptsIn) {
  Harness h;
  EXPECT_THAT(h.Handle(At({}), MemoryChanged{900}), IsEmpty());
  EXPECT_THAT(h.Assign({Attempt(1, 200), Attempt(2, 0)}), IsEmpty());
  EXPECT_THAT(h.Handle(At({}), MemoryChanged{800}), ElementsAre("lane 0: 1 2"));
}

// Arrays were stored after the scheduler had sent the attempt, and stay.
TEST(WorkerStateTest, AttemptThatStoredArraysKeepOutWaitsABoundedTime) {
  Harness h({.memory_bytes = 1000, .memory_wait = seconds(1)});
  h.Handle(At({}), MemoryChanged{900});
  EXPECT_THAT(h.Assign({Attempt(1, 200), Attempt(2, 50)}), IsEmpty());
  EXPECT_LE(h.core.NextWakeup(), At(seconds(1) + milliseconds(2)));
  EXPECT_THAT(h.Handle(At(seconds(1) + milliseconds(2)), Tick{}),
              ElementsAre("lane 0: 2", "1 OUT_OF_MEMORY"));
  EXPECT_THAT(h.Launched({2}), ElementsAre("2 OK"));
  EXPECT_EQ(h.core.NextWakeup(), kNever);
}

TEST(WorkerStateTest, WaitForStoredArraysEndsWhenTheyGo) {
  Harness h({.memory_bytes = 1000, .memory_wait = seconds(1)});
  h.Assign({Attempt(1, 700)});
  h.Handle(At({}), MemoryChanged{900});
  EXPECT_THAT(h.Assign({Attempt(2, 700)}), IsEmpty());
  EXPECT_THAT(h.Handle(At(milliseconds(500)), MemoryChanged{0}), IsEmpty());
  EXPECT_THAT(h.Handle(At(seconds(3)), Tick{}), IsEmpty()) << "it waits for 1 only";
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 2", "1 OK"));
  EXPECT_EQ(h.core.NextWakeup(), kNever);
}

TEST(WorkerStateTest, ReservationBeyondTheLimitIsReportedAtOnce) {
  Harness h;
  EXPECT_THAT(h.Assign({Attempt(1, 1001)}), ElementsAre("1 OUT_OF_MEMORY"));
}

// --- Dropping ---

TEST(WorkerStateTest, DroppedLaunchKeepsItsMemoryUntilItEnds) {
  Harness h;
  h.Assign({Attempt(1, 700)});
  EXPECT_THAT(h.Drop({1}), ElementsAre("interrupt 1"));
  EXPECT_THAT(h.Drop({1}), IsEmpty()) << "twice is as once";
  EXPECT_EQ(h.core.reserved_bytes(), 700);
  EXPECT_THAT(h.Assign({Attempt(2, 700)}), IsEmpty());
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 2", "1 CANCELLED"));
}

TEST(WorkerStateTest, DroppedFetchIsReportedAtOnceAndReleasesWhatItBrings) {
  Harness h;
  h.Assign({WithInputs(Attempt(1)), WithInputs(Attempt(2))});
  EXPECT_THAT(h.Drop({1, 2}), ElementsAre("1 CANCELLED", "2 CANCELLED"));
  EXPECT_FALSE(h.core.idle());
  EXPECT_THAT(h.Drop({1}), IsEmpty());
  EXPECT_THAT(h.Inputs(1), ElementsAre("release 1"));
  EXPECT_THAT(h.Inputs(2, false), IsEmpty()) << "it brought nothing";
  EXPECT_TRUE(h.core.idle());
}

TEST(WorkerStateTest, DroppedWaitingAttemptsGoAndLetOthersIn) {
  Harness h({.memory_bytes = 1000, .lanes = 1, .batch_max = 1});
  h.Assign({Attempt(1, 300), Attempt(2, 300), Attempt(3, 900), Attempt(4, 100)});
  EXPECT_THAT(h.Drop({3}), ElementsAre("3 CANCELLED")) << "4 is ready now";
  EXPECT_EQ(h.core.counts().ready, 2);
  EXPECT_THAT(h.Drop({2}), ElementsAre("2 CANCELLED"));
  EXPECT_EQ(h.core.reserved_bytes(), 400);
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 4", "1 OK"));
}

TEST(WorkerStateTest, DropThatCrossedTheEndIsIgnored) {
  Harness h;
  h.Assign({Attempt(1)});
  h.Launched({1});
  EXPECT_THAT(h.Drop({1, 99, 0}), IsEmpty());
  EXPECT_EQ(h.core.counts().stale, 3U);
}

// --- Deadlines ---

TEST(WorkerStateTest, DeadlineIsHonouredBeforeTheLaunch) {
  Harness h({.memory_bytes = 1000, .lanes = 1, .batch_max = 1});
  h.Assign({Attempt(1), Until(At(milliseconds(10)), Attempt(2)),
            Until(At(milliseconds(50)), Attempt(3))});
  EXPECT_LE(h.core.NextWakeup(), At(milliseconds(12)));
  EXPECT_THAT(h.Handle(At(milliseconds(12)), Tick{}), ElementsAre("2 DEADLINE"));
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 3", "1 OK"));
}

TEST(WorkerStateTest, NothingIsLaunchedAfterItsDeadlineEvenWithinATick) {
  Harness h({.memory_bytes = 1000, .lanes = 1, .batch_max = 1});
  h.Assign({Attempt(1), Until(At(microseconds(5)), Attempt(2, 900)), Attempt(3, 900)});
  h.Handle(At(microseconds(6)), Tick{});
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 3", "1 OK", "2 DEADLINE"))
      << "the memory of 2 goes to 3 within the same event";
}

TEST(WorkerStateTest, DeadlineInterruptsALaunchAndIsItsReason) {
  Harness h;
  h.Assign({Until(At(milliseconds(5)), Attempt(1))});
  EXPECT_THAT(h.Handle(At(milliseconds(7)), Tick{}), ElementsAre("interrupt 1"));
  EXPECT_THAT(h.Drop({1}), IsEmpty());
  EXPECT_THAT(h.Launched({1}), ElementsAre("1 DEADLINE"));
  EXPECT_EQ(h.core.NextWakeup(), kNever);
}

TEST(WorkerStateTest, DeadlineEndsAFetch) {
  Harness h;
  h.Assign({WithInputs(Until(At(milliseconds(5)), Attempt(1)))});
  EXPECT_THAT(h.Handle(At(milliseconds(7)), Tick{}), ElementsAre("1 DEADLINE"));
  EXPECT_THAT(h.Inputs(1), ElementsAre("release 1"));
}

// --- Drain and what peers repeat ---

TEST(WorkerStateTest, DrainRefusesTheNewAndFinishesTheOld) {
  Harness h({.memory_bytes = 1000, .lanes = 1, .batch_max = 1});
  h.Assign({Attempt(1), Attempt(2)});
  EXPECT_THAT(h.Handle(At({}), Drain{}), IsEmpty());
  EXPECT_THAT(h.Assign({Attempt(3)}), ElementsAre("3 REFUSED"));
  EXPECT_THAT(h.Launched({1}), ElementsAre("lane 0: 2", "1 OK"));
  EXPECT_FALSE(h.core.idle());
  EXPECT_THAT(h.Launched({2}), ElementsAre("2 OK"));
  EXPECT_TRUE(h.core.idle());
}

TEST(WorkerStateTest, RepeatedBatchIsIgnored) {
  Harness h;
  const std::vector<Assignment> assignments{Attempt(1)};
  h.Handle(At({}), AttemptsAssigned{7, assignments});
  h.Launched({1});
  EXPECT_THAT(h.Handle(At({}), AttemptsAssigned{7, assignments}), IsEmpty());
  EXPECT_THAT(h.Handle(At({}), AttemptsAssigned{6, assignments}), IsEmpty());
  EXPECT_EQ(h.core.counts().stale, 2U);
}

TEST(WorkerStateTest, AttemptNamedTwiceIsTakenOnce) {
  Harness h;
  EXPECT_THAT(h.Assign({Attempt(1), Attempt(1)}), ElementsAre("lane 0: 1"));
  EXPECT_THAT(h.Launched({1}), ElementsAre("1 OK"));
  EXPECT_TRUE(h.core.idle());
}

// --- Our own driver's bugs ---

TEST(WorkerStateDeathTest, ImpossibleEventsEndTheProcess) {
  Harness h;
  h.Assign({WithInputs(Attempt(1)), Attempt(2)});
  EXPECT_DEATH(h.Launched({1}), "a launch ended that was not running");
  EXPECT_DEATH(h.Launched({9}), "check failed: row != kNone");
  EXPECT_DEATH(h.Inputs(2), "inputs arrived that were not asked for");
  EXPECT_DEATH(h.Inputs(9), "check failed: row != kNone");
  EXPECT_DEATH(h.Handle(At({}), MemoryChanged{-1}), "check failed: event.stored_bytes >= 0");
  h.Handle(At(seconds(1)), Tick{});
  EXPECT_DEATH(h.Handle(At({}), Tick{}), "check failed: now >= now_");
  EXPECT_DEATH(WorkerState({.lanes = 0}), "options.lanes >= 1");
  EXPECT_DEATH(WorkerState({.lanes = 65}), "options.lanes <= 64");
}

}  // namespace
}  // namespace shoal::worker
