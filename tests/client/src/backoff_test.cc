#include "client/src/backoff.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "shoal/v1/details.pb.h"

namespace shoal::internal {
namespace {

using std::chrono::milliseconds;

RetryPolicy Policy(double jitter) {
  return {.attempts_max = 6,
          .backoff_initial = milliseconds(100),
          .backoff_max = milliseconds(500),
          .multiplier = 2.0,
          .jitter = jitter};
}

absl::Status WithRetryInfo(absl::Status status, int seconds) {
  v1::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(seconds);
  status.SetPayload("type.googleapis.com/google.rpc.RetryInfo",
                    absl::Cord(info.SerializeAsString()));
  return status;
}

TEST(BackoffScheduleTest, GrowsToItsLimitAndThenEnds) {
  BackoffSchedule schedule(Policy(0), 1);
  const absl::Status gone = absl::UnavailableError("gone");
  for (const int wait : {100, 200, 400, 500, 500}) {
    EXPECT_EQ(schedule.Next(gone), milliseconds(wait));
  }
  EXPECT_EQ(schedule.Next(gone), std::nullopt) << "six attempts have five waits between them";
}

TEST(BackoffScheduleTest, ProgressStartsTheCountAnew) {
  BackoffSchedule schedule(Policy(0), 1);
  const absl::Status gone = absl::UnavailableError("gone");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(schedule.Next(gone), milliseconds(100));
    schedule.Progressed();
  }
}

TEST(BackoffScheduleTest, JitterStaysInItsBoundsAndDiffersBySeed) {
  const absl::Status gone = absl::UnavailableError("gone");
  bool differs = false;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto wait = BackoffSchedule(Policy(0.25), seed).Next(gone);
    ASSERT_TRUE(wait.has_value());
    EXPECT_GE(*wait, milliseconds(75));
    EXPECT_LE(*wait, milliseconds(125));
    EXPECT_EQ(wait, BackoffSchedule(Policy(0.25), seed).Next(gone)) << "a seed decides it all";
    differs = differs || wait != BackoffSchedule(Policy(0.25), seed + 1).Next(gone);
  }
  EXPECT_TRUE(differs);
}

TEST(BackoffScheduleTest, OnlyWhatMayPassIsRepeated) {
  const auto repeated = [](const absl::Status& status, bool can_resume = false) {
    return BackoffSchedule(Policy(0), 1).Next(status, can_resume).has_value();
  };
  EXPECT_TRUE(repeated(absl::AbortedError("")));
  EXPECT_FALSE(repeated(absl::InvalidArgumentError("")));
  EXPECT_FALSE(repeated(absl::DeadlineExceededError("")));
  EXPECT_FALSE(repeated(absl::DataLossError("")));
  EXPECT_TRUE(repeated(absl::DataLossError(""), /*can_resume=*/true));
  EXPECT_FALSE(repeated(absl::ResourceExhaustedError("never")));
  EXPECT_TRUE(repeated(WithRetryInfo(absl::ResourceExhaustedError("for now"), 0)));
}

TEST(BackoffScheduleTest, TheServersWishIsALowerBound) {
  BackoffSchedule schedule(Policy(0), 1);
  EXPECT_EQ(schedule.Next(WithRetryInfo(absl::UnavailableError("draining"), 3)),
            std::chrono::seconds(3));
  EXPECT_EQ(schedule.Next(WithRetryInfo(absl::UnavailableError("draining"), 0)), milliseconds(200));
}

TEST(CheckPolicyTest, RefusesNonsense) {
  EXPECT_TRUE(CheckPolicy(RetryPolicy()).ok());
  EXPECT_FALSE(CheckPolicy({.attempts_max = 0}).ok());
  EXPECT_FALSE(CheckPolicy({.jitter = 1.5}).ok());
  EXPECT_FALSE(CheckPolicy({.multiplier = 0.5}).ok());
  EXPECT_FALSE(CheckPolicy({.backoff_initial = std::chrono::seconds(3)}).ok());
}

}  // namespace
}  // namespace shoal::internal
