#pragma once

#include <vector>

#include "absl/types/span.h"
#include "base/time.h"

namespace shoal::bench {

/// What a set of latencies looks like, in microseconds.
struct Quantiles {
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double max_us = 0;
};

/// The smallest value that at least `share` of the sorted `values` do not exceed (nearest rank).
///
/// `share` in (0, 1]; `values` sorted ascending, not empty.
double NearestRank(absl::Span<const double> values, double share);

/// The middle value, or the mean of the two middle ones. 0 for none.
double Median(std::vector<double> values);

/// Half the distance between the lower and the upper quartile over the median: how far repeats of
/// one measurement lie apart. 0 for fewer than two values or a median of 0.
double RelativeSpread(std::vector<double> values);

/// All zero for no latencies.
Quantiles QuantilesOf(absl::Span<const Duration> latencies);

double Seconds(Duration duration);

}  // namespace shoal::bench
