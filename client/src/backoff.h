#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

#include "absl/status/status.h"
#include "base/time.h"
#include "shoal/options.h"

namespace shoal::internal {

/// Whether, and after how long, a failed attempt is repeated. Pure: randomness from a seed, no
/// clock.
class BackoffSchedule {
 public:
  BackoffSchedule(const RetryPolicy& policy, uint64_t seed) : policy_(policy), random_(seed) {}

  /// After an attempt that failed with `error`: the wait before the next one, or nothing if there
  /// is to be none.
  ///
  /// The server's RetryInfo, if any, is a lower bound of the wait. DATA_LOSS is repeated only if
  /// `can_resume`.
  std::optional<Duration> Next(const absl::Status& error, bool can_resume = false);

  /// The last attempt got further than the one before: start counting anew.
  void Progressed() { failures_ = 0; }

 private:
  const RetryPolicy policy_;
  std::mt19937_64 random_;
  int failures_ = 0;
};

/// Refuses a policy whose numbers make no sense. Errors: INVALID_ARGUMENT.
absl::Status CheckPolicy(const RetryPolicy& policy);

}  // namespace shoal::internal
