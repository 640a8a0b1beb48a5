#include "client/src/lease_arena.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace shoal::internal {
namespace {

constexpr int64_t kSharedRegion = 16 * kMiB;
// From here on an array gets a lease of its own, so that giving it back frees it.
constexpr int64_t kOwnFrom = 4 * kMiB;
constexpr int64_t kPage = 4 * kKiB;

}  // namespace

class LeaseArena::Block final : public Storage {
 public:
  Block(std::shared_ptr<LeaseArena> arena, RegionRef region, int64_t offset, int64_t bytes)
      : Storage(region->lease.data + offset, bytes),
        arena_(std::move(arena)),
        region_(region),
        place_{arena_.get(), region->lease.id, region->lease.token, offset} {}
  ~Block() override { arena_->GiveBack(region_, place_.offset); }

  const LeasePlace* place() const override { return &place_; }
  RegionRef region() const { return region_; }

 private:
  const std::shared_ptr<LeaseArena> arena_;  // Shared: arrays outlive the Client.
  const RegionRef region_;
  const LeasePlace place_;
};

absl::StatusOr<std::shared_ptr<LeaseArena>> LeaseArena::Connect(const Options& options) {
  SHOAL_ASSIGN_OR_RETURN(LeaseSocket socket, LeaseSocket::Connect(options.socket_path));
  return std::shared_ptr<LeaseArena>(new LeaseArena(options, std::move(socket)));
}

LeaseArena::~LeaseArena() {
  // No array is left. The server frees the leases when the socket closes.
  for (const Region& region : regions_) LeaseSocket::Unmap(region.lease);
}

absl::StatusOr<StorageRef> LeaseArena::Allocate(int64_t bytes) {
  if (bytes > options_.lease_bytes_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a lease holds at most ", options_.lease_bytes_max, " bytes, not ", bytes));
  }
  const std::lock_guard lock(mutex_);
  const bool shared = bytes < kOwnFrom;
  for (auto region = regions_.begin(); region != regions_.end(); ++region) {
    if (region->distrusted || region->shared != shared) continue;
    if (!shared && (region->lease.bytes < bytes || region->lease.bytes / 5 * 4 > bytes)) continue;
    if (const auto offset = region->allocator.Allocate(bytes)) return TakeFrom(region, *offset);
  }
  const int64_t wanted = shared ? std::min(kSharedRegion, options_.lease_bytes_max)
                                : (bytes + kPage - 1) / kPage * kPage;
  absl::StatusOr<RegionRef> region = AddRegion(wanted, shared);
  if (region.status().code() == absl::StatusCode::kResourceExhausted) {
    TrimIdle(0);  // What is kept idle here may be what the server lacks.
    region = AddRegion(wanted, shared);
  }
  if (!region.ok()) return region.status();
  const auto offset = (*region)->allocator.Allocate(bytes);
  if (!offset.has_value()) return absl::ResourceExhaustedError("a lease too small to be shared");
  return TakeFrom(*region, *offset);
}

StorageRef LeaseArena::TakeFrom(RegionRef region, int64_t offset) {
  regions_.splice(regions_.begin(), regions_, region);
  return std::make_shared<Block>(shared_from_this(), region, offset, region->lease.bytes - offset);
}

absl::StatusOr<LeaseArena::RegionRef> LeaseArena::AddRegion(int64_t bytes, bool shared) {
  SHOAL_ASSIGN_OR_RETURN(
      const Lease lease,
      socket_.Acquire(bytes, shared ? LeaseSocket::Touch::kNone : LeaseSocket::Touch::kAll));
  regions_.push_front({lease, RegionAllocator(lease.bytes), shared, false});
  return regions_.begin();
}

bool LeaseArena::alive() {
  const std::lock_guard lock(mutex_);
  return socket_.alive();
}

const LeasePlace* LeaseArena::PlaceOf(const StorageRef& storage) {
  if (storage == nullptr) return nullptr;
  const LeasePlace* place = storage->place();
  return place != nullptr && place->arena == this && alive() ? place : nullptr;
}

void LeaseArena::Distrust(const StorageRef& storage) {
  if (storage == nullptr || storage->place() == nullptr || storage->place()->arena != this) return;
  const std::lock_guard lock(mutex_);
  static_cast<const Block&>(*storage).region()->distrusted = true;
}

int64_t LeaseArena::lease_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(regions_.size());
}

void LeaseArena::GiveBack(RegionRef region, int64_t offset) {
  const std::lock_guard lock(mutex_);
  region->allocator.Free(offset);
  if (!region->allocator.empty()) return;
  if (region->distrusted) {
    socket_.Release(region->lease);
    regions_.erase(region);
    return;
  }
  TrimIdle(options_.kept_bytes_max);
}

void LeaseArena::TrimIdle(int64_t kept_bytes_max) {
  int64_t kept_bytes = 0;
  for (auto region = regions_.begin(); region != regions_.end();) {
    const auto next = std::next(region);
    if (region->allocator.empty()) {
      kept_bytes += region->lease.bytes;
      if (kept_bytes > kept_bytes_max) {
        kept_bytes -= region->lease.bytes;
        socket_.Release(region->lease);
        regions_.erase(region);
      }
    }
    region = next;
  }
}

}  // namespace shoal::internal
