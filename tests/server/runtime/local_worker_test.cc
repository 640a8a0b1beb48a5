#include "server/runtime/local_worker.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "server/runtime/dispatcher.h"

namespace shoal::runtime {
namespace {

/// A body that nobody runs.
class Idle final : public TaskBody {
 public:
  std::optional<core::AttemptOutcome> Run(const PieceRun&) override { return std::nullopt; }
  void OnFinished(const scheduler::Finished&) override {}
  void Retire() override {}
};

class LocalWorkerTest : public ::testing::Test {
 protected:
  LocalWorkerTest() { worker_.Seated(kSeat); }

  static constexpr scheduler::Seat kSeat{WorkerId{3}, 2};
  static constexpr Instant kNow{Duration(1000)};

  core::Assignment For(Idle* body, uint64_t attempt) {
    return {.attempt = AttemptId{attempt}, .tag = Dispatcher::Tag(body), .cost = Duration(1)};
  }

  LocalWorker worker_{{.memory_bytes = 100}};
  LinkActions actions_;
  Idle first_;
  Idle second_;
};

TEST_F(LocalWorkerTest, LaunchesAtOnceAndReportsTheEnd) {
  const std::vector<core::Assignment> work = {For(&first_, 7)};
  worker_.Assign(kNow, work, &actions_);
  ASSERT_EQ(actions_.launches.size(), 1U);
  EXPECT_EQ(actions_.launches[0].body, &first_);
  EXPECT_EQ(actions_.launches[0].run.seat, kSeat);
  EXPECT_EQ(actions_.launches[0].run.attempt, AttemptId{7});
  EXPECT_TRUE(actions_.reports.empty());
  const std::vector<core::AttemptEnd> ends = {{.attempt = AttemptId{7}}};
  worker_.EndLaunches(kNow, ends, &actions_);
  EXPECT_EQ(actions_.reports, ends);
  EXPECT_EQ(worker_.counts().reported, 1U);
}

TEST_F(LocalWorkerTest, DroppingWhatRunsRaisesItsFlagAndWhatWaitsIsReported) {
  const std::vector<core::Assignment> work = {For(&first_, 1)};
  const std::vector<core::Assignment> more = {For(&second_, 2)};
  worker_.Assign(kNow, work, &actions_);
  worker_.Assign(kNow, more, &actions_);
  EXPECT_EQ(actions_.launches.size(), 1U) << "one lane";
  const AttemptId both[] = {AttemptId{1}, AttemptId{2}};
  worker_.Drop(kNow, both, &actions_);
  EXPECT_TRUE(*first_.cancel_flag());
  EXPECT_FALSE(*second_.cancel_flag());
  ASSERT_EQ(actions_.reports.size(), 1U);
  EXPECT_EQ(actions_.reports[0].attempt, AttemptId{2});
  EXPECT_EQ(actions_.reports[0].outcome, core::AttemptOutcome::kCancelled);
}

// The lane has its next launch before the flag of the last one is raised.
TEST_F(LocalWorkerTest, ADeadlineMayPassAsTheLaunchEndsWhileAnotherWaits) {
  core::Assignment late = For(&first_, 1);
  late.deadline = kNow + std::chrono::milliseconds(10);
  const std::vector<core::Assignment> work = {late};
  const std::vector<core::Assignment> more = {For(&second_, 2)};
  worker_.Assign(kNow, work, &actions_);
  worker_.Assign(kNow, more, &actions_);
  ASSERT_EQ(actions_.launches.size(), 1U);
  const std::vector<core::AttemptEnd> ends = {{.attempt = AttemptId{1}}};
  worker_.EndLaunches(kNow + std::chrono::milliseconds(20), ends, &actions_);
  EXPECT_TRUE(*first_.cancel_flag());
  ASSERT_EQ(actions_.launches.size(), 2U);
  EXPECT_EQ(actions_.launches[1].body, &second_);
  EXPECT_FALSE(*second_.cancel_flag());
}

TEST_F(LocalWorkerTest, WhatWaitsForStoredArraysStartsWhenTheyGo) {
  worker_.SetStored(kNow, 60, &actions_);
  core::Assignment large = For(&first_, 1);
  large.reserve_bytes = 50;
  worker_.Assign(kNow, {&large, 1}, &actions_);
  EXPECT_TRUE(actions_.launches.empty());
  EXPECT_NE(worker_.NextWakeup(), kNever);
  worker_.SetStored(kNow, 50, &actions_);
  EXPECT_EQ(actions_.launches.size(), 1U);
}

TEST_F(LocalWorkerTest, ATickEndsWhatHasWaitedTooLong) {
  worker_.SetStored(kNow, 100, &actions_);
  core::Assignment large = For(&first_, 1);
  large.reserve_bytes = 50;
  worker_.Assign(kNow, {&large, 1}, &actions_);
  worker_.Tick(kNow + std::chrono::hours(1), &actions_);
  ASSERT_EQ(actions_.reports.size(), 1U);
  EXPECT_EQ(actions_.reports[0].outcome, core::AttemptOutcome::kOutOfMemory);
}

}  // namespace
}  // namespace shoal::runtime
