#include "server/memory/budget.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"
#include "server/memory/shortage.h"

namespace shoal::memory {

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    Release();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void Reservation::Release() noexcept {
  if (budget_ != nullptr) budget_->Return(bytes_);
  budget_ = nullptr;
  bytes_ = 0;
}

Budget::Budget(std::string owner, int64_t limit_bytes)
    : owner_(std::move(owner)), limit_bytes_(limit_bytes) {
  SHOAL_CHECK(limit_bytes >= 0);
}

Budget::~Budget() { SHOAL_CHECK(used_bytes() == 0); }

absl::StatusOr<Reservation> Budget::Reserve(int64_t bytes) {
  SHOAL_RETURN_IF_ERROR(Take(bytes));
  return Reservation(this, bytes);
}

absl::Status Budget::Take(int64_t bytes) {
  SHOAL_CHECK(bytes >= 0);
  int64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    // Compared this way round because used + bytes may not fit in 64 bits.
    if (bytes > limit_bytes_ - used) {
      return ShortageError(owner_, {bytes, limit_bytes_ - used, limit_bytes_});
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  int64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (used + bytes > peak &&
         !peak_bytes_.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
  }
  return absl::OkStatus();
}

void Budget::Return(int64_t bytes) noexcept {
  const int64_t before = used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  SHOAL_CHECK(bytes >= 0 && bytes <= before);
}

}  // namespace shoal::memory
