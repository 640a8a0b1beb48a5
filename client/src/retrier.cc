#include "client/src/retrier.h"

#include <chrono>

namespace shoal::internal {

// Clients that were interrupted together must not come back together: each call has its own seed.
Retrier::Retrier(const RetryPolicy& policy, const CallEnv& env)
    : schedule_(policy, static_cast<uint64_t>(Deadline::Clock::now().time_since_epoch().count()) ^
                            reinterpret_cast<uintptr_t>(&env)),
      env_(env) {}

bool Retrier::Again(const absl::Status& error, bool can_resume) {
  const std::optional<Duration> wait = schedule_.Next(error, can_resume);
  return wait.has_value() && env_.shutdown->Wait(*wait, env_.deadline);
}

}  // namespace shoal::internal
