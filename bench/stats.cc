#include "bench/stats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"

namespace shoal::bench {

double NearestRank(absl::Span<const double> values, double share) {
  SHOAL_CHECK(!values.empty() && share > 0 && share <= 1);
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

double RelativeSpread(std::vector<double> values) {
  const double median = Median(values);
  if (values.size() < 2 || median == 0) return 0;
  std::sort(values.begin(), values.end());
  return (NearestRank(values, 0.75) - NearestRank(values, 0.25)) / 2 / median;
}

Quantiles QuantilesOf(absl::Span<const Duration> latencies) {
  if (latencies.empty()) return {};
  std::vector<double> sorted_us;
  sorted_us.reserve(latencies.size());
  for (const Duration latency : latencies) sorted_us.push_back(Seconds(latency) * 1e6);
  std::sort(sorted_us.begin(), sorted_us.end());
  return {NearestRank(sorted_us, 0.50), NearestRank(sorted_us, 0.90), NearestRank(sorted_us, 0.99),
          sorted_us.back()};
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace shoal::bench
