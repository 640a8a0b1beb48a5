#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace shoal::bench {

/// One of those that do the same work, in turns.
///
/// Thread-safety: one thread at a time.
class Contender {
 public:
  virtual ~Contender() = default;

  /// As JSON has it: "shoal", "stream", "numpy".
  virtual const std::string& Name() const = 0;

  /// Does the work so many times; returns the seconds that one of them took.
  virtual absl::StatusOr<double> Burst(int64_t calls) = 0;
};

struct RoundOptions {
  int64_t repeat = 5;         ///< Rounds; figures are their medians.
  double burst_s = 0.003;     ///< About as long is a burst, but one call at least.
  int64_t calls_max = 10000;  ///< Of a burst.
};

/// What one contender took, round by round.
struct RoundTimes {
  std::string name;
  std::vector<double> seconds;  ///< Of one call, by round.
};

/// Calls of a burst where one takes `call_s`.
int64_t CallsFor(double call_s, const RoundOptions& options);

/// Measures all in rounds: in each, every contender makes one burst, and the order is turned by one
/// place from round to round. Before them each makes a few calls that do not count.
///
/// The result is in the order of `contenders`.
///
/// Errors: of the first burst that failed, with the contender's name.
absl::StatusOr<std::vector<RoundTimes>> MeasureRounds(absl::Span<Contender* const> contenders,
                                                      const RoundOptions& options);

/// How many times faster the first was than the second: the median of the rounds' ratios.
double SpeedRatio(const RoundTimes& own, const RoundTimes& other);

/// How much of the speed of the fastest of `limits` it had, round by round; the median. 0 without
/// limits.
double ShareOfLimit(const RoundTimes& own, absl::Span<const RoundTimes* const> limits);

}  // namespace shoal::bench
