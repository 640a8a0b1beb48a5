#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace shoal::runtime {

/// Whether the service still takes work, what is under way, and who wants to know when there is no
/// more of either.
///
/// Must outlive its tickets.
/// Thread-safety: all calls from any thread.
class DrainSignal {
 public:
  /// Work under way, from its admission until this goes: it is finished, however long draining has
  /// gone on.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept : signal_(std::exchange(other.signal_, nullptr)) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(signal_, other.signal_);
      return *this;
    }
    ~Ticket() {
      if (signal_ != nullptr) signal_->Leave();
    }

   private:
    friend class DrainSignal;
    explicit Ticket(DrainSignal* signal) : signal_(signal) {}

    DrainSignal* signal_ = nullptr;
  };

  /// Begins a piece of work.
  ///
  /// Cost: two atomic operations.
  /// Errors: UNAVAILABLE  draining; with a hint when to try (another server) again.
  absl::StatusOr<Ticket> Admit();
  /// The same without refusing: for reading what is there, which may go on.
  Ticket Enter();
  /// OK, or the error of Admit.
  absl::Status Check() const;
  bool draining() const { return draining_.load(std::memory_order_relaxed); }

  /// False: it had been begun before. Calls everybody who watches, once.
  bool Begin();

  /// `begun` is called when draining begins, at once if it has. It may still be called, or be being
  /// called, after Unwatch with the number that this returns: it keeps alive what it needs.
  uint64_t Watch(absl::AnyInvocable<void() &&> begun);
  void Unwatch(uint64_t number);

  /// `idle` is called once, when draining has begun and no ticket is out; at once if it is so.
  void WhenIdle(absl::AnyInvocable<void() &&> idle);
  /// Waits for that moment; false: it did not come in time.
  bool WaitIdle(Duration timeout);

 private:
  void Leave();
  void TellIfIdle();

  std::atomic<bool> draining_ = false;
  std::atomic<int64_t> under_way_ = 0;
  std::mutex mutex_;
  uint64_t next_ = 1;
  std::map<uint64_t, absl::AnyInvocable<void() &&>> watchers_;
  std::vector<absl::AnyInvocable<void() &&>> when_idle_;
};

}  // namespace shoal::runtime
