#include "client/src/backoff.h"

#include <algorithm>
#include <cmath>

#include "shoal/status.h"

namespace shoal::internal {
namespace {

bool Repeatable(const absl::Status& error, bool can_resume) {
  if (error.code() == absl::StatusCode::kUnavailable) return true;
  if (error.code() == absl::StatusCode::kAborted) return true;
  // Full for now, if the server says when to come back; else more than there will ever be.
  if (error.code() == absl::StatusCode::kResourceExhausted) return RetryDelay(error).has_value();
  return can_resume && error.code() == absl::StatusCode::kDataLoss;
}

}  // namespace

std::optional<Duration> BackoffSchedule::Next(const absl::Status& error, bool can_resume) {
  if (!Repeatable(error, can_resume)) return std::nullopt;
  if (++failures_ >= policy_.attempts_max) return std::nullopt;
  const double growth = std::pow(policy_.multiplier, failures_ - 1);
  const double nominal = std::min(static_cast<double>(policy_.backoff_initial.count()) * growth,
                                  static_cast<double>(policy_.backoff_max.count()));
  std::uniform_real_distribution<double> spread(1.0 - policy_.jitter, 1.0 + policy_.jitter);
  const Duration wait(static_cast<int64_t>(nominal * spread(random_)));
  return std::max<Duration>(wait, RetryDelay(error).value_or(Duration(0)));
}

absl::Status CheckPolicy(const RetryPolicy& policy) {
  if (policy.attempts_max < 1) return absl::InvalidArgumentError("retry: attempts_max below 1");
  if (policy.backoff_initial.count() < 0 || policy.backoff_max < policy.backoff_initial) {
    return absl::InvalidArgumentError("retry: backoff_initial is negative or above backoff_max");
  }
  if (!(policy.multiplier >= 1.0 && policy.multiplier <= 100.0)) {
    return absl::InvalidArgumentError("retry: multiplier is not in [1, 100]");
  }
  if (!(policy.jitter >= 0.0 && policy.jitter <= 1.0)) {
    return absl::InvalidArgumentError("retry: jitter is not in [0, 1]");
  }
  return absl::OkStatus();
}

}  // namespace shoal::internal
