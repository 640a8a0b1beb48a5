#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "client/src/lease_socket.h"
#include "client/src/region_allocator.h"
#include "client/src/storage.h"

namespace shoal::internal {

/// Allocates arrays in leases (plane A): small ones side by side in shared regions, large ones in
/// regions of their own, which are kept for the next of that size.
///
/// Thread-safety: all methods. Lifetime: its storages keep it alive, and with it the leases.
class LeaseArena : public std::enable_shared_from_this<LeaseArena> {
 public:
  struct Options {
    std::string socket_path = {};
    int64_t lease_bytes_max = 0;  ///< The largest lease that the server gives.
    int64_t kept_bytes_max = 0;   ///< Idle memory that is not given back at once.
  };

  /// Errors: UNAVAILABLE.
  static absl::StatusOr<std::shared_ptr<LeaseArena>> Connect(const Options& options);
  ~LeaseArena();
  LeaseArena(const LeaseArena&) = delete;
  LeaseArena& operator=(const LeaseArena&) = delete;

  /// Memory with unspecified contents.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  the server does not lend that much.
  ///   UNAVAILABLE         the server is gone; the arena will not come back.
  absl::StatusOr<StorageRef> Allocate(int64_t bytes);

  /// True: the server still honours the leases. Else their memory is only this process's.
  bool alive();

  /// Where the storage lies, if it is this arena's and alive; else null.
  const LeasePlace* PlaceOf(const StorageRef& storage);

  /// The server may still be writing to `storage`, after a call that was given up: its memory is
  /// not lent again before the server, too, has let go of the lease.
  void Distrust(const StorageRef& storage);

  /// Leases held at present.
  int64_t lease_count() const;

 private:
  class Block;
  struct Region {
    Lease lease;
    RegionAllocator allocator;
    bool shared = false;      // Holds small arrays side by side.
    bool distrusted = false;  // Goes back as soon as its arrays are gone.
  };
  using RegionRef = std::list<Region>::iterator;

  LeaseArena(const Options& options, LeaseSocket socket)
      : options_(options), socket_(std::move(socket)) {}

  StorageRef TakeFrom(RegionRef region, int64_t offset);
  absl::StatusOr<RegionRef> AddRegion(int64_t bytes, bool shared);
  void GiveBack(RegionRef region, int64_t offset);
  void TrimIdle(int64_t kept_bytes_max);

  const Options options_;
  mutable std::mutex mutex_;
  LeaseSocket socket_;
  std::list<Region> regions_;  // Most recently used first.
};

}  // namespace shoal::internal
