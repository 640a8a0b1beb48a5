#pragma once

#include <string>
#include <vector>

#include "shoal/info.h"

namespace shoal::cli {

/// A table of the rows, then for each op, route and plane a sparkline of throughput against
/// payload size, both on logarithmic scales: a column a power of two, a blank where there were no
/// calls, and the same vertical scale for all lines.
std::string ThroughputText(const ThroughputReport& report, bool unicode);

/// The height of each value between the least and the greatest positive one, as a character; a
/// blank for what is not positive.
struct SparkScale {
  double low = 0;  ///< Positive.
  double high = 0;
};
std::string Sparkline(const std::vector<double>& values, const SparkScale& scale, bool unicode);

}  // namespace shoal::cli
