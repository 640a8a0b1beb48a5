#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace shoal::memory {

class Budget;

/// Bytes held of a Budget; gives them back when it goes.
///
/// Thread-safety: as a value.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { Release(); }

  int64_t bytes() const { return bytes_; }
  /// Gives everything back now; the reservation is empty afterwards.
  void Release() noexcept;

 private:
  friend class Budget;
  Reservation(Budget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {}

  Budget* budget_ = nullptr;
  int64_t bytes_ = 0;
};

/// A limit on bytes: one for each worker's memory, one for each client's quota.
///
/// It counts; it allocates nothing. Must outlive its reservations (checked).
/// Thread-safety: all calls from any thread, without locks.
class Budget {
 public:
  /// `owner` names the budget in messages, as "worker 3".
  Budget(std::string owner, int64_t limit_bytes);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
  ~Budget();

  /// Holds `bytes` >= 0 until the reservation goes.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  more than is left; nothing is held. Carries a Shortage.
  absl::StatusOr<Reservation> Reserve(int64_t bytes);

  /// As `Reserve`, for owners that remember the bytes themselves; undone by `Return`.
  absl::Status Take(int64_t bytes);
  void Return(int64_t bytes) noexcept;

  const std::string& owner() const { return owner_; }
  int64_t limit_bytes() const { return limit_bytes_; }
  int64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  /// The most that was ever held at once.
  int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }

 private:
  const std::string owner_;
  const int64_t limit_bytes_;
  std::atomic<int64_t> used_bytes_ = 0;
  std::atomic<int64_t> peak_bytes_ = 0;
};

}  // namespace shoal::memory
