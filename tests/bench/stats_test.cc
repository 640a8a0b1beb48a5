#include "bench/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace shoal::bench {
namespace {

using std::chrono::microseconds;

TEST(NearestRankTest, TakesTheSmallestValueThatCoversTheShare) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(NearestRank(values, 0.50), 5);
  EXPECT_EQ(NearestRank(values, 0.51), 6);
  EXPECT_EQ(NearestRank(values, 0.90), 9);
  EXPECT_EQ(NearestRank(values, 0.99), 10);
  EXPECT_EQ(NearestRank(values, 1.00), 10);
  EXPECT_EQ(NearestRank(std::vector<double>{7}, 0.01), 7);
}

TEST(NearestRankDeathTest, NothingHasNoRank) {
  EXPECT_DEATH(NearestRank(std::vector<double>{}, 0.5), "check failed");
}

TEST(MedianTest, IsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

TEST(MedianTest, OneWildValueDoesNotMoveIt) { EXPECT_EQ(Median({10, 11, 12, 13, 1e9}), 12); }

TEST(RelativeSpreadTest, IsHalfTheQuartileDistanceOverTheMedian) {
  EXPECT_EQ(RelativeSpread({}), 0);
  EXPECT_EQ(RelativeSpread({5}), 0);
  EXPECT_EQ(RelativeSpread({5, 5, 5, 5}), 0);
  EXPECT_DOUBLE_EQ(RelativeSpread({8, 10, 10, 12}), (10.0 - 8.0) / 2 / 10.0);
}

TEST(QuantilesTest, AreInMicrosecondsWhateverTheOrder) {
  std::vector<Duration> latencies;
  for (int i = 1; i <= 1000; ++i) latencies.emplace_back(microseconds(i));
  std::shuffle(latencies.begin(), latencies.end(), std::minstd_rand(1));
  const Quantiles quantiles = QuantilesOf(latencies);
  EXPECT_DOUBLE_EQ(quantiles.p50_us, 500);
  EXPECT_DOUBLE_EQ(quantiles.p90_us, 900);
  EXPECT_DOUBLE_EQ(quantiles.p99_us, 990);
  EXPECT_DOUBLE_EQ(quantiles.max_us, 1000);
}

TEST(QuantilesTest, AreZeroForNothing) { EXPECT_EQ(QuantilesOf({}).max_us, 0); }

}  // namespace
}  // namespace shoal::bench
