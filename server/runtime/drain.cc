#include "server/runtime/drain.h"

#include <chrono>
#include <utility>

#include "server/wire/status_details.h"

namespace shoal::runtime {

absl::Status DrainSignal::Admit() const {
  if (!draining()) return absl::OkStatus();
  return wire::WithRetryAfter(
      wire::WithReason(absl::UnavailableError("the server is draining"), "DRAINING"),
      std::chrono::seconds(1));
}

// Watchers are called without the lock: one may end a call whose last act is to unwatch.
bool DrainSignal::Begin() {
  std::map<uint64_t, absl::AnyInvocable<void() &&>> watchers;
  {
    const std::lock_guard lock(mutex_);
    if (draining_.exchange(true)) return false;
    watchers.swap(watchers_);
  }
  for (auto& [number, begun] : watchers) std::move(begun)();
  return true;
}

uint64_t DrainSignal::Watch(absl::AnyInvocable<void() &&> begun) {
  {
    const std::lock_guard lock(mutex_);
    if (!draining()) {
      watchers_[next_] = std::move(begun);
      return next_++;
    }
  }
  std::move(begun)();
  return 0;
}

void DrainSignal::Unwatch(uint64_t number) {
  const std::lock_guard lock(mutex_);
  watchers_.erase(number);
}

}  // namespace shoal::runtime
