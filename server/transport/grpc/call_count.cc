#include "server/transport/grpc/call_count.h"

#include <algorithm>
#include <chrono>

namespace shoal::transport {

// Counted before it looks a second time, as Turn turns before anybody waits: a call that saw the
// first side is waited for.
int CallCount::Enter() {
  if (side_.load() != 0) return 1;
  earlier_.fetch_add(1);
  if (side_.load() == 0) return 0;
  Leave(0);
  return 1;
}

void CallCount::Leave(int side) {
  if (side != 0 || earlier_.fetch_sub(1) != 1 || side_.load() == 0) return;
  const std::lock_guard lock(mutex_);  // Whoever waits has looked before, or sleeps.
  over_.notify_all();
}

void CallCount::Turn() { side_.store(1); }

bool CallCount::AwaitEarlier(Duration timeout) {
  constexpr Duration kForEver = std::chrono::hours(24 * 365);  // More would overflow a clock.
  std::unique_lock lock(mutex_);
  return over_.wait_for(lock, std::min(timeout, kForEver), [this] { return earlier_.load() == 0; });
}

}  // namespace shoal::transport
