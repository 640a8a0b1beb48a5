#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "server/memory/mapping.h"

namespace shoal::memory {

/// Slots of 64 bytes to 64 KiB, in size classes, cut from 256 KiB slabs.
///
/// Each core has a shard with a short stack of free slots per class (a magazine: Bonwick and Adams,
/// USENIX 2001), filled from and spilled to the slabs in batches, so that the common case is one
/// uncontended lock. A slab whose
/// slots are all free may serve another class. Free slots are never written to: what was freed
/// stays cold, and a sanitizer can poison the whole of it.
/// Thread-safety: all calls from any thread.
class SlabHeap {
 public:
  static constexpr int64_t kSlotBytesMax = int64_t{64} << 10;
  static constexpr int64_t kSlabBytes = int64_t{256} << 10;
  static constexpr int kClassCount = 36;

  /// Multiples of 64 up to 512, then four a doubling. `bytes` is in [1, kSlotBytesMax].
  static constexpr int ClassOf(int64_t bytes);
  static constexpr int64_t SlotBytes(int size_class);

  /// Errors:
  ///   RESOURCE_EXHAUSTED  no address space.
  static absl::StatusOr<std::unique_ptr<SlabHeap>> Create(int64_t bytes);

  /// A slot of that class, or null when every slab is in use.
  std::byte* Allocate(int size_class);
  void Deallocate(std::byte* data, int size_class);

  /// Empties the magazines and gives the pages of wholly free slabs back to the system.
  void Trim();

  std::byte* data() const { return mapping_.data(); }
  /// Bytes in slabs that were ever used, which bounds what is resident.
  int64_t warm_bytes() const { return warm_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kMagazineSlotsMax = 64;

  struct Slab {
    int size_class = -1;  ///< -1: serves none now.
    int free_count = 0;
    std::vector<uint64_t> free_bits;  ///< Bit set: the slot is free and in no magazine.
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::array<uint8_t, kClassCount> counts = {};
    // Deliberately not zeroed: a magazine's page is first touched when its class is first used.
    std::array<std::array<std::byte*, kMagazineSlotsMax>, kClassCount> slots;
  };

  explicit SlabHeap(Mapping mapping);
  static int BatchSlots(int size_class);
  Shard& ShardOfThisCore();
  int Refill(int size_class, std::byte** slots, int count);
  void Spill(int size_class, std::byte* const* slots, int count);
  int SlabWithFreeSlot(int size_class);                         // Needs central_.
  int TakeSlots(int slab_index, std::byte** slots, int count);  // Needs central_.

  Mapping mapping_;
  const int shard_count_;
  const std::unique_ptr<Shard[]> shards_;
  std::atomic<int64_t> warm_bytes_ = 0;

  // Order of locks: a shard's, then central_.
  std::mutex central_;
  std::vector<Slab> slabs_;      ///< Those used so far, by address.
  absl::btree_set<int> unused_;  ///< Of slabs_, those that serve no class.
  std::array<absl::btree_set<int>, kClassCount> partial_;  ///< Those with a free bit, by class.
};

constexpr int SlabHeap::ClassOf(int64_t bytes) {
  if (bytes <= 512) return static_cast<int>((bytes + 63) / 64) - 1;
  const auto last = static_cast<uint64_t>(bytes - 1);
  const int doubling = 63 - __builtin_clzll(last);
  return 8 + (doubling - 9) * 4 + static_cast<int>(last >> (doubling - 2) & 3);
}

constexpr int64_t SlabHeap::SlotBytes(int size_class) {
  if (size_class < 8) return int64_t{64} * (size_class + 1);
  const int step = size_class - 8;
  return int64_t{5 + step % 4} << (7 + step / 4);
}

}  // namespace shoal::memory
