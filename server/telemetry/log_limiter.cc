#include "server/telemetry/log_limiter.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace shoal::telemetry {

LogLimiter::LogLimiter(double per_second, int burst)
    : interval_ns_(std::max<int64_t>(1, std::llround(1e9 / per_second))),
      tolerance_ns_(interval_ns_ * (burst - 1)),
      full_at_ns_(INT64_MIN / 2) {
  SHOAL_CHECK(per_second > 0 && burst > 0);
}

std::optional<int64_t> LogLimiter::Admit(Instant now) {
  const int64_t now_ns = now.time_since_epoch().count();
  int64_t full_at = full_at_ns_.load(std::memory_order_relaxed);
  do {
    if (now_ns < full_at - tolerance_ns_) {
      swallowed_.fetch_add(1, std::memory_order_relaxed);
      return std::nullopt;
    }
  } while (!full_at_ns_.compare_exchange_weak(full_at, std::max(full_at, now_ns) + interval_ns_,
                                              std::memory_order_relaxed));
  return TakeSwallowed();
}

}  // namespace shoal::telemetry
