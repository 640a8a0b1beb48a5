#include "server/runtime/drain.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "server/wire/status_details.h"

namespace shoal::runtime {

absl::StatusOr<DrainSignal::Ticket> DrainSignal::Admit() {
  Ticket ticket = Enter();
  // Counted before it looks, as Begin sets the flag before it counts: one sees the other.
  if (draining_.load()) return Check();
  return ticket;
}

DrainSignal::Ticket DrainSignal::Enter() {
  under_way_.fetch_add(1);
  return Ticket(this);
}

absl::Status DrainSignal::Check() const {
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
  TellIfIdle();
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

void DrainSignal::WhenIdle(absl::AnyInvocable<void() &&> idle) {
  {
    const std::lock_guard lock(mutex_);
    when_idle_.push_back(std::move(idle));
  }
  TellIfIdle();
}

bool DrainSignal::WaitIdle(Duration timeout) {
  constexpr Duration kForEver = std::chrono::hours(24 * 365);  // More would overflow a clock.
  const auto idle = std::make_shared<std::promise<void>>();    // Owned by this wait and by its end.
  WhenIdle([idle] { idle->set_value(); });
  return idle->get_future().wait_for(std::min(timeout, kForEver)) == std::future_status::ready;
}

void DrainSignal::Leave() {
  if (under_way_.fetch_sub(1) == 1) TellIfIdle();
}

void DrainSignal::TellIfIdle() {
  if (!draining_.load() || under_way_.load() != 0) return;
  std::vector<absl::AnyInvocable<void() &&>> told;
  {
    const std::lock_guard lock(mutex_);
    told.swap(when_idle_);
  }
  for (auto& idle : told) std::move(idle)();
}

}  // namespace shoal::runtime
