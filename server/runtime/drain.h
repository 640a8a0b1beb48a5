#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"

namespace shoal::runtime {

/// Whether the service still takes work, and who wants to know when it does no more.
///
/// Thread-safety: all calls from any thread.
class DrainSignal {
 public:
  /// OK, or UNAVAILABLE with a hint when to try (another server) again.
  absl::Status Admit() const;
  bool draining() const { return draining_.load(std::memory_order_relaxed); }

  /// False: it had been begun before. Calls everybody who watches, once.
  bool Begin();

  /// `begun` is called when draining begins, at once if it has. It may still be called, or be being
  /// called, after Unwatch with the number that this returns: it keeps alive what it needs.
  uint64_t Watch(absl::AnyInvocable<void() &&> begun);
  void Unwatch(uint64_t number);

 private:
  std::atomic<bool> draining_ = false;
  std::mutex mutex_;
  uint64_t next_ = 1;
  std::map<uint64_t, absl::AnyInvocable<void() &&>> watchers_;
};

}  // namespace shoal::runtime
