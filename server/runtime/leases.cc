#include "server/runtime/leases.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "server/wire/status_details.h"

namespace shoal::runtime {
namespace {

// No kernel relies on more: complex128 is two float64.
constexpr int64_t kAlignmentMax = 8;

uint64_t Secret() {
  uint64_t secret = 0;
  SHOAL_CHECK(getrandom(&secret, sizeof(secret), 0) == sizeof(secret));
  return secret;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Lease>> Leases::Acquire(uint64_t bytes) {
  if (bytes == 0 || bytes > static_cast<uint64_t>(lease_bytes_max_)) {
    return absl::InvalidArgumentError(absl::StrCat("a lease of ", bytes, " bytes; 1 to ",
                                                   FormatBytes(lease_bytes_max_), " are legal"));
  }
  auto lease = std::make_shared<Lease>();
  SHOAL_ASSIGN_OR_RETURN(lease->reservation, budget_->Reserve(static_cast<int64_t>(bytes)));
  SHOAL_ASSIGN_OR_RETURN(lease->region, memory::Region::Create(static_cast<int64_t>(bytes)));
  lease->token = Secret();
  const std::lock_guard lock(mutex_);
  lease->id = LeaseId{next_id_++};
  leases_[lease->id.value] = lease;
  return lease;
}

void Leases::Release(LeaseId id) {
  std::shared_ptr<const Lease> dropped;  // Unmapped outside the lock.
  const std::lock_guard lock(mutex_);
  const auto lease = leases_.find(id.value);
  if (lease == leases_.end()) return;
  dropped = std::move(lease->second);
  leases_.erase(lease);
}

absl::StatusOr<LeasedSpan> Leases::Resolve(const plan::LeasePlace& place, int64_t bytes,
                                           int64_t item_bytes) const {
  std::shared_ptr<const Lease> lease;
  {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(place.lease.value);
    if (found != leases_.end()) lease = found->second;
  }
  if (lease == nullptr || lease->token != place.token) {
    const std::string id = absl::StrCat(place.lease.value);
    return wire::WithResource(absl::NotFoundError(absl::StrCat("no lease ", id)), "lease", id);
  }
  SHOAL_RETURN_IF_ERROR(lease->region.CheckRange(place.offset, bytes));
  if (place.offset % std::min(item_bytes, kAlignmentMax) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("lease offset ", place.offset, " is not aligned to the element size"));
  }
  return LeasedSpan{lease->region.data() + place.offset, std::move(lease)};
}

int64_t Leases::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(leases_.size());
}

}  // namespace shoal::runtime
