#include "bench/kernels/rounds.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "bench/stats.h"

namespace shoal::bench {
namespace {

absl::StatusOr<double> Named(Contender* contender, int64_t calls) {
  absl::StatusOr<double> seconds = contender->Burst(calls);
  if (seconds.ok()) return seconds;
  return absl::Status(seconds.status().code(),
                      absl::StrCat(contender->Name(), ": ", seconds.status().message()));
}

// The first call meets cold caches, pages and branches; the second says how long one is.
absl::StatusOr<int64_t> Plan(Contender* contender, const RoundOptions& options) {
  SHOAL_RETURN_IF_ERROR(Named(contender, 1).status());
  SHOAL_ASSIGN_OR_RETURN(const double call_s, Named(contender, 1));
  return CallsFor(call_s, options);
}

}  // namespace

int64_t CallsFor(double call_s, const RoundOptions& options) {
  if (!(call_s > 0)) return options.calls_max;
  const double calls = std::round(options.burst_s / call_s);
  return std::clamp<int64_t>(
      static_cast<int64_t>(std::min(calls, static_cast<double>(options.calls_max))), 1,
      options.calls_max);
}

absl::StatusOr<std::vector<RoundTimes>> MeasureRounds(absl::Span<Contender* const> contenders,
                                                      const RoundOptions& options) {
  std::vector<RoundTimes> times;
  std::vector<int64_t> calls;
  for (Contender* contender : contenders) {
    SHOAL_ASSIGN_OR_RETURN(const int64_t planned, Plan(contender, options));
    calls.push_back(planned);
    times.push_back({contender->Name(), {}});
  }
  for (int64_t round = 0; round < options.repeat; ++round) {
    for (size_t turn = 0; turn < contenders.size(); ++turn) {
      const size_t i = (turn + static_cast<size_t>(round)) % contenders.size();
      SHOAL_ASSIGN_OR_RETURN(const double seconds, Named(contenders[i], calls[i]));
      times[i].seconds.push_back(seconds);
    }
  }
  return times;
}

double SpeedRatio(const RoundTimes& own, const RoundTimes& other) {
  SHOAL_CHECK(own.seconds.size() == other.seconds.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < own.seconds.size(); ++i) {
    ratios.push_back(other.seconds[i] / own.seconds[i]);
  }
  return Median(ratios);
}

double ShareOfLimit(const RoundTimes& own, absl::Span<const RoundTimes* const> limits) {
  if (limits.empty()) return 0;
  std::vector<double> shares;
  for (size_t i = 0; i < own.seconds.size(); ++i) {
    double fastest = limits[0]->seconds[i];
    for (const RoundTimes* limit : limits) fastest = std::min(fastest, limit->seconds[i]);
    shares.push_back(fastest / own.seconds[i]);
  }
  return Median(shares);
}

}  // namespace shoal::bench
