#include "bench/sweep/crew.h"

#include <gtest/gtest.h>

#include "tests/bench/sweep/fake_subject.h"

namespace shoal::bench {
namespace {

absl::StatusOr<BurstResult> BurstOf(FakeSubject* subject, Op op, const BurstShape& shape,
                                    int callers = 1) {
  const auto workload = Workload::Create({.op = op, .bytes = 100});
  const auto crew = Crew::Create(subject, callers);
  if (!crew.ok()) return crew.status();
  const absl::Status prepared = (*crew)->Prepare(&*workload, shape);
  if (!prepared.ok()) return prepared;
  return (*crew)->Burst();
}

TEST(CrewTest, TimesEveryCallAndFindsNothingWrong) {
  for (const Op op : {Op::kEcho, Op::kPut, Op::kGet}) {
    FakeSubject subject("good", {});
    const auto result = BurstOf(&subject, op, {.calls = 10});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->latencies.size(), 10U);
    EXPECT_EQ(result->wrong, 0);
    EXPECT_GE(result->wall, result->sent);
    EXPECT_GT(result->wall, Duration::zero());
  }
}

TEST(CrewTest, CountsWrongReplies) {
  FakeSubject flips("flips", {.flip_reply = true});
  EXPECT_EQ(BurstOf(&flips, Op::kEcho, {.calls = 10})->wrong, 10);
  EXPECT_EQ(BurstOf(&flips, Op::kGet, {.calls = 10})->wrong, 10);
}

TEST(CrewTest, NoticesAReplyThatNeverCame) {
  FakeSubject stale("stale", {.stale_reply = true});
  EXPECT_GT(BurstOf(&stale, Op::kEcho, {.calls = 3})->wrong, 250) << "of 300 random bytes";
}

TEST(CrewTest, ReadsBackWhatWasPut) {
  FakeSubject loses("loses", {.flip_stored = true});
  EXPECT_EQ(BurstOf(&loses, Op::kPut, {.calls = 5})->wrong, 5);
}

TEST(CrewTest, ReleasesWhatItStored) {
  FakeSubject subject("good", {});
  ASSERT_TRUE(BurstOf(&subject, Op::kPut, {.calls = 6}, 2).ok());
  EXPECT_EQ(subject.released_count.load(), 12);
}

TEST(CrewTest, KeepsToTheNumberInFlight) {
  FakeSubject subject("good", {});
  subject.overlaps = true;
  ASSERT_TRUE(BurstOf(&subject, Op::kEcho, {.calls = 20, .in_flight = 4}).ok());
  EXPECT_EQ(subject.in_flight_max.load(), 4);
}

TEST(CrewTest, GivesALaneThatCannotOverlapOneCallAtATime) {
  FakeSubject subject("good", {});
  ASSERT_TRUE(BurstOf(&subject, Op::kEcho, {.calls = 20, .in_flight = 4}).ok());
  EXPECT_EQ(subject.in_flight_max.load(), 1);
}

TEST(CrewTest, SeveralCallersEachMakeTheirCalls) {
  FakeSubject subject("good", {});
  const auto result = BurstOf(&subject, Op::kEcho, {.calls = 10}, 3);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->latencies.size(), 30U);
  EXPECT_EQ(result->wrong, 0);
}

TEST(CrewTest, AFailedCallFailsTheBurstAloneAndTogether) {
  for (const int callers : {1, 3}) {
    FakeSubject subject("fails", {.fail_after = 4});
    const auto result = BurstOf(&subject, Op::kEcho, {.calls = 10}, callers);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable) << callers;
  }
}

TEST(CrewTest, ASecondBurstSendsOtherBytes) {
  FakeSubject subject("stale", {.stale_reply = true});
  const auto workload = Workload::Create({.op = Op::kEcho, .bytes = 64});
  const auto crew = *Crew::Create(&subject, 1);
  ASSERT_TRUE(crew->Prepare(&*workload, {.calls = 1}).ok());
  const int64_t first = crew->Burst()->wrong;
  const int64_t second = crew->Burst()->wrong;
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0) << "the reply buffer must not hold what the second burst sends";
}

}  // namespace
}  // namespace shoal::bench
