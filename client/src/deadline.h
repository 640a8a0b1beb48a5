#pragma once

#include <chrono>
#include <optional>

#include "absl/status/status.h"

namespace shoal::internal {

/// When a whole API call must have come to an end, retries and all. Absent timeout: never.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline() = default;
  explicit Deadline(std::optional<std::chrono::nanoseconds> timeout) {
    if (!timeout.has_value()) return;
    // Longer than this is for ever, and would overflow the clock.
    constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365 * 50);
    if (*timeout < kLongest) at_ = Clock::now() + *timeout;
  }

  const std::optional<Clock::time_point>& at() const { return at_; }

  /// A transport may count in milliseconds, and let a call that is quick enough slip through.
  absl::Status Check() const {
    if (!at_.has_value() || Clock::now() < *at_) return absl::OkStatus();
    return absl::DeadlineExceededError("the timeout passed before the call was sent");
  }

 private:
  std::optional<Clock::time_point> at_;
};

}  // namespace shoal::internal
