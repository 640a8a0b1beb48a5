#include "server/telemetry/log_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace shoal::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LogLimiterTest, ABurstPassesThenOneAnInterval) {
  LogLimiter limiter(10, 3);
  const Instant start(seconds(5));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.Admit(start), 0);
  EXPECT_EQ(limiter.Admit(start), std::nullopt);
  EXPECT_EQ(limiter.Admit(start + milliseconds(99)), std::nullopt);
  EXPECT_EQ(limiter.Admit(start + milliseconds(100)), 2) << "two were swallowed";
  EXPECT_EQ(limiter.Admit(start + milliseconds(100)), std::nullopt);
  EXPECT_EQ(limiter.TakeSwallowed(), 1);
  EXPECT_EQ(limiter.TakeSwallowed(), 0);
}

TEST(LogLimiterTest, AQuietTimeFillsTheBucketAndNoMore) {
  LogLimiter limiter(1, 2);
  EXPECT_TRUE(limiter.Admit(Instant(seconds(0))).has_value());
  const Instant later(seconds(1000));
  EXPECT_TRUE(limiter.Admit(later).has_value());
  EXPECT_TRUE(limiter.Admit(later).has_value());
  EXPECT_FALSE(limiter.Admit(later).has_value());
}

TEST(LogLimiterTest, ThreadsTogetherGetOneBucketAndEveryEventIsCounted) {
  LogLimiter limiter(1, 5);
  std::atomic<int64_t> passed{0};
  std::atomic<int64_t> told{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        const std::optional<int64_t> swallowed = limiter.Admit(Instant(seconds(7)));
        if (!swallowed.has_value()) continue;
        ++passed;
        told += *swallowed;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(passed, 5);
  EXPECT_EQ(passed + told + limiter.TakeSwallowed(), 40000);
}

}  // namespace
}  // namespace shoal::telemetry
