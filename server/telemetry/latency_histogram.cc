#include "server/telemetry/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace shoal::telemetry {

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

int64_t LatencyHistogram::TotalCount() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

int64_t LatencyHistogram::CountBelowPower(int exponent) const {
  SHOAL_CHECK(exponent >= 6 && exponent <= 42);
  const auto end = counts_.begin() + (exponent - 5) * kBucketsPerOctave;
  return std::accumulate(counts_.begin(), end, int64_t{0});
}

Duration LatencyHistogram::Quantile(double q) const {
  SHOAL_CHECK(q >= 0 && q <= 1);
  const int64_t total = TotalCount();
  if (total == 0) return Duration::zero();
  const int64_t rank =
      std::clamp<int64_t>(std::llround(std::ceil(q * static_cast<double>(total))), 1, total);
  int64_t seen = 0;
  int bucket = -1;
  while (seen < rank) seen += BucketCount(++bucket);
  return (LowerBound(bucket) + LowerBound(bucket + 1)) / 2;
}

}  // namespace shoal::telemetry
