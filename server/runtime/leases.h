#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "server/memory/budget.h"
#include "server/memory/region.h"
#include "server/plan/call.h"

namespace shoal::runtime {

/// A region that one client has mapped as well (plane A).
struct Lease {
  LeaseId id;
  uint64_t token = 0;  ///< The secret that references must carry.
  memory::Region region;
  memory::Reservation reservation;
};

/// The bytes that a reference names. `owner` keeps the lease mapped while they are used: its other
/// owner is the table, until the client drops the lease or goes away.
struct LeasedSpan {
  std::byte* data = nullptr;
  std::shared_ptr<const Lease> owner;
};

/// The leases in force.
///
/// Thread-safety: all calls from any thread.
class Leases {
 public:
  /// Borrows `budget`, which pays for the regions.
  Leases(memory::Budget* budget, int64_t lease_bytes_max)
      : budget_(budget), lease_bytes_max_(lease_bytes_max) {}

  /// A new region of at least `bytes`.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    `bytes` is 0, or above the largest lease.
  ///   RESOURCE_EXHAUSTED  no room for it.
  absl::StatusOr<std::shared_ptr<const Lease>> Acquire(uint64_t bytes);

  /// No reference finds it any more; its memory goes after the last use.
  void Release(LeaseId id);

  /// The place, checked in 64 bits: token, bounds, alignment to `item_bytes`.
  ///
  /// Errors:
  ///   NOT_FOUND         no such lease, dropped, or the token is wrong.
  ///   OUT_OF_RANGE      it does not lie within the lease.
  ///   INVALID_ARGUMENT  it is not aligned.
  absl::StatusOr<LeasedSpan> Resolve(const plan::LeasePlace& place, int64_t bytes,
                                     int64_t item_bytes) const;

  int64_t count() const;

 private:
  memory::Budget* const budget_;
  const int64_t lease_bytes_max_;
  mutable std::mutex mutex_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<const Lease>> leases_;
  uint64_t next_id_ = 1;
};

}  // namespace shoal::runtime
