#include "client/src/shutdown.h"

namespace shoal::internal {

void Shutdown::Begin() {
  cancellation_.Cancel();
  // Whoever has looked, and does not wait yet, holds the lock.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

bool Shutdown::Wait(Duration duration, const Deadline& deadline) {
  const auto until = Deadline::Clock::now() + duration;
  if (deadline.at().has_value() && *deadline.at() < until) return false;
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, until, [this] { return begun(); });
}

}  // namespace shoal::internal
