#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>
#include <utility>

namespace shoal::support {

/// Longer than anything takes that ever comes: a test that waits so long has failed.
inline constexpr std::chrono::seconds kPatience{60};

/// Waits on `changed` until `reached()`; ends the program where that never comes, since whoever
/// waits could not go on.
template <typename Reached>
void WaitFor(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
             Reached reached) {
  if (changed.wait_for(lock, kPatience, reached)) return;
  std::cerr << "waited in vain\n";
  std::abort();
}

/// Values from one thread to another.
///
/// Thread-safety: all calls from any thread.
template <typename T>
class Inbox {
 public:
  void Put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }

  /// The oldest value that was not taken yet; waits for it.
  T Take() {
    std::unique_lock lock(mutex_);
    WaitFor(lock, changed_, [this] { return !values_.empty(); });
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  /// Values that were not taken yet.
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
};

}  // namespace shoal::support
