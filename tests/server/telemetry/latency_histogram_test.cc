#include "server/telemetry/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace shoal::telemetry {
namespace {

using Histogram = LatencyHistogram;

TEST(LatencyHistogramTest, BucketsTileTheLineWithoutGap) {
  for (int bucket = 0; bucket < Histogram::kBucketCount; ++bucket) {
    const Duration low = Histogram::LowerBound(bucket);
    const Duration high = Histogram::LowerBound(bucket + 1);
    EXPECT_LT(low, high);
    EXPECT_EQ(Histogram::BucketOf(low), bucket);
    EXPECT_EQ(Histogram::BucketOf(high - Duration(1)), bucket);
  }
  EXPECT_EQ(Histogram::BucketOf(Duration(-5)), 0);
  EXPECT_EQ(Histogram::BucketOf(Duration::max()), Histogram::kBucketCount - 1);
  EXPECT_GT(Histogram::LowerBound(Histogram::kBucketCount), std::chrono::hours(1));
}

TEST(LatencyHistogramTest, EveryQuantileIsWithinAnEighthFrom100NsToAnHour) {
  std::mt19937_64 random(20260131);
  for (int round = 0; round < 50; ++round) {
    Histogram histogram;
    std::vector<int64_t> truth;
    std::uniform_real_distribution<double> exponent(std::log(100.0), std::log(3.6e12));
    const int count = 1 + static_cast<int>(random() % 500);
    for (int i = 0; i < count; ++i) {
      truth.push_back(static_cast<int64_t>(std::exp(exponent(random))));
      histogram.Record(Duration(truth.back()));
    }
    std::sort(truth.begin(), truth.end());
    for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0}) {
      const auto rank = static_cast<size_t>(std::max(1.0, std::ceil(q * count)));
      const auto exact = static_cast<double>(truth[rank - 1]);
      const auto told = static_cast<double>(histogram.Quantile(q).count());
      EXPECT_LE(std::abs(told - exact), exact / 8) << q << " of " << count;
    }
  }
}

TEST(LatencyHistogramTest, MergingIsAdding) {
  Histogram a, b;
  a.Record(Duration(100), 3);
  b.Record(Duration(100), 4);
  b.Record(std::chrono::seconds(1));
  a.Merge(b);
  EXPECT_EQ(a.TotalCount(), 8);
  EXPECT_EQ(a.BucketCount(Histogram::BucketOf(Duration(100))), 7);
}

TEST(LatencyHistogramTest, CountsBelowAPowerOfTwoAreExact) {
  Histogram histogram;
  histogram.Record(Duration(1));
  histogram.Record(Duration(1023));
  histogram.Record(Duration(1024));
  histogram.Record(Duration::max());
  EXPECT_EQ(histogram.CountBelowPower(6), 1);
  EXPECT_EQ(histogram.CountBelowPower(10), 2);
  EXPECT_EQ(histogram.CountBelowPower(11), 3);
  EXPECT_EQ(histogram.CountBelowPower(42), 4);
}

TEST(LatencyHistogramTest, AnEmptyOneSaysZero) {
  EXPECT_EQ(Histogram().Quantile(0.99), Duration::zero());
}

}  // namespace
}  // namespace shoal::telemetry
