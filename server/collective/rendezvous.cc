#include "server/collective/rendezvous.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace shoal::collective {
namespace {

constexpr int64_t kValueBytesMax = 64 * kKiB;
// Beyond this the clock's own range would overflow, and nobody waits longer.
constexpr Duration kTimeoutMax = std::chrono::hours(24 * 365);

}  // namespace

absl::Status MemoryRendezvous::Set(const std::string& key, std::string value) {
  if (static_cast<int64_t>(value.size()) > kValueBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("value of ", value.size(), " bytes for ", key, " is above 64 KiB"));
  }
  {
    const std::lock_guard lock(mutex_);
    if (!values_.try_emplace(key, std::move(value)).second) {
      return absl::AlreadyExistsError(absl::StrCat(key, " has a value"));
    }
  }
  changed_.notify_all();
  return absl::OkStatus();
}

absl::StatusOr<std::string> MemoryRendezvous::Get(const std::string& key, Duration timeout) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return closed_ || values_.contains(key); };
  if (!changed_.wait_until(lock, std::chrono::steady_clock::now() + std::min(timeout, kTimeoutMax),
                           ready)) {
    return absl::DeadlineExceededError(absl::StrCat("nobody set ", key, " in time"));
  }
  if (closed_) return absl::CancelledError("the rendezvous was closed");
  return values_.find(key)->second;
}

void MemoryRendezvous::Forget(const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  absl::erase_if(values_, [&](const auto& entry) { return absl::StartsWith(entry.first, prefix); });
}

void MemoryRendezvous::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace shoal::collective
