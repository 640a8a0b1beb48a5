#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace shoal::telemetry {

/// Lets through `burst` events at once and `per_second` in the long run; counts the others.
///
/// One limiter per kind of event, so that a flood of one kind hides no other. A token bucket as
/// one number, the moment at which the bucket is full again (the generic cell rate algorithm,
/// ITU-T I.371, annex A). Thread-safe and lock-free; a refusal costs a load and an add.
class LogLimiter {
 public:
  /// Both positive.
  LogLimiter(double per_second, int burst);

  /// If an event at `now` may pass: how many were swallowed since the last that did.
  std::optional<int64_t> Admit(Instant now);

  /// Takes the count of swallowed events that no line has told yet: for a last word at shutdown.
  int64_t TakeSwallowed() { return swallowed_.exchange(0, std::memory_order_relaxed); }

 private:
  const int64_t interval_ns_;
  const int64_t tolerance_ns_;
  std::atomic<int64_t> full_at_ns_;
  std::atomic<int64_t> swallowed_{0};
};

}  // namespace shoal::telemetry
