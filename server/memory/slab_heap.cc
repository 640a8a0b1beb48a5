#include "server/memory/slab_heap.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace shoal::memory {
namespace {

static_assert(SlabHeap::ClassOf(SlabHeap::kSlotBytesMax) == SlabHeap::kClassCount - 1);
static_assert(SlabHeap::SlotBytes(SlabHeap::kClassCount - 1) == SlabHeap::kSlotBytesMax);

constexpr int kShardsMax = 64;
constexpr int64_t kBatchBytes = int64_t{128} << 10;

int ShardCount() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kShardsMax);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SlabHeap>> SlabHeap::Create(int64_t bytes) {
  const int64_t rounded = std::max(bytes / kSlabBytes, int64_t{1}) * kSlabBytes;
  // Ordinary pages: with huge ones the first small extent would cost 2 MiB.
  SHOAL_ASSIGN_OR_RETURN(Mapping mapping, Mapping::Reserve(rounded, /*huge_pages=*/false));
  return std::unique_ptr<SlabHeap>(new SlabHeap(std::move(mapping)));
}

SlabHeap::SlabHeap(Mapping mapping)
    : mapping_(std::move(mapping)),
      shard_count_(ShardCount()),
      shards_(new Shard[static_cast<size_t>(ShardCount())]) {}

int SlabHeap::BatchSlots(int size_class) {
  return static_cast<int>(
      std::clamp<int64_t>(kBatchBytes / SlotBytes(size_class), 2, kMagazineSlotsMax / 2));
}

SlabHeap::Shard& SlabHeap::ShardOfThisCore() {
  // The core may change before the lock is taken: then two cores share a shard for once.
  return shards_[static_cast<size_t>(std::max(sched_getcpu(), 0) % shard_count_)];
}

std::byte* SlabHeap::Allocate(int size_class) {
  const auto index = static_cast<size_t>(size_class);
  Shard& shard = ShardOfThisCore();
  const std::lock_guard lock(shard.mutex);
  uint8_t& count = shard.counts[index];
  if (count == 0) {
    count =
        static_cast<uint8_t>(Refill(size_class, shard.slots[index].data(), BatchSlots(size_class)));
    if (count == 0) return nullptr;
  }
  return shard.slots[index][--count];
}

void SlabHeap::Deallocate(std::byte* data, int size_class) {
  const auto index = static_cast<size_t>(size_class);
  Shard& shard = ShardOfThisCore();
  const std::lock_guard lock(shard.mutex);
  uint8_t& count = shard.counts[index];
  const int batch = BatchSlots(size_class);
  if (count == 2 * batch) {
    // The oldest half goes: what was freed last is warm in this core's cache.
    auto& slots = shard.slots[index];
    Spill(size_class, slots.data(), batch);
    std::copy(slots.begin() + batch, slots.begin() + 2 * batch, slots.begin());
    count = static_cast<uint8_t>(batch);
  }
  shard.slots[index][count++] = data;
}

int SlabHeap::Refill(int size_class, std::byte** slots, int count) {
  const std::lock_guard lock(central_);
  int taken = 0;
  while (taken < count) {
    const int slab_index = SlabWithFreeSlot(size_class);
    if (slab_index < 0) break;
    taken += TakeSlots(slab_index, slots + taken, count - taken);
    if (slabs_[static_cast<size_t>(slab_index)].free_count == 0) {
      partial_[static_cast<size_t>(size_class)].erase(slab_index);
    }
  }
  // Slots are handed out from the end of the magazine; the lowest address should go first.
  std::reverse(slots, slots + taken);
  return taken;
}

int SlabHeap::SlabWithFreeSlot(int size_class) {
  auto& partial = partial_[static_cast<size_t>(size_class)];
  if (!partial.empty()) return *partial.begin();
  int index = -1;
  if (!unused_.empty()) {
    index = *unused_.begin();
    unused_.erase(unused_.begin());
  } else if (static_cast<int64_t>(slabs_.size()) < mapping_.bytes() / kSlabBytes) {
    index = static_cast<int>(slabs_.size());
    slabs_.emplace_back();
    warm_bytes_.fetch_add(kSlabBytes, std::memory_order_relaxed);
  } else {
    return -1;
  }
  Slab& slab = slabs_[static_cast<size_t>(index)];
  slab.size_class = size_class;
  slab.free_count = static_cast<int>(kSlabBytes / SlotBytes(size_class));
  slab.free_bits.assign((static_cast<size_t>(slab.free_count) + 63) / 64, ~uint64_t{0});
  if (slab.free_count % 64 != 0) slab.free_bits.back() = (uint64_t{1} << slab.free_count % 64) - 1;
  partial.insert(index);
  return index;
}

int SlabHeap::TakeSlots(int slab_index, std::byte** slots, int count) {
  Slab& slab = slabs_[static_cast<size_t>(slab_index)];
  std::byte* const base = mapping_.data() + slab_index * kSlabBytes;
  const int64_t slot_bytes = SlotBytes(slab.size_class);
  int taken = 0;
  for (size_t word = 0; word < slab.free_bits.size() && taken < count; ++word) {
    uint64_t& bits = slab.free_bits[word];
    for (; bits != 0 && taken < count; bits &= bits - 1) {
      const auto slot = static_cast<int64_t>(word) * 64 + std::countr_zero(bits);
      slots[taken++] = base + slot * slot_bytes;
    }
  }
  slab.free_count -= taken;
  return taken;
}

void SlabHeap::Spill(int size_class, std::byte* const* slots, int count) {
  const int64_t slot_bytes = SlotBytes(size_class);
  auto& partial = partial_[static_cast<size_t>(size_class)];
  const std::lock_guard lock(central_);
  for (int i = 0; i < count; ++i) {
    const int64_t offset = slots[i] - mapping_.data();
    const int64_t slab_index = offset / kSlabBytes;
    SHOAL_CHECK(offset >= 0 && slab_index < static_cast<int64_t>(slabs_.size()));
    Slab& slab = slabs_[static_cast<size_t>(slab_index)];
    const int64_t slot = offset % kSlabBytes / slot_bytes;
    uint64_t& bits = slab.free_bits[static_cast<size_t>(slot / 64)];
    const uint64_t bit = uint64_t{1} << slot % 64;
    // Otherwise the slot was released twice, or with another size than it was allocated with.
    SHOAL_CHECK(slab.size_class == size_class && (bits & bit) == 0);
    bits |= bit;
    if (++slab.free_count == 1) partial.insert(static_cast<int>(slab_index));
    if (slab.free_count == kSlabBytes / slot_bytes) {
      partial.erase(static_cast<int>(slab_index));
      slab.size_class = -1;
      unused_.insert(static_cast<int>(slab_index));
    }
  }
}

void SlabHeap::Trim() {
  for (int i = 0; i < shard_count_; ++i) {
    Shard& shard = shards_[static_cast<size_t>(i)];
    const std::lock_guard lock(shard.mutex);
    for (int size_class = 0; size_class < kClassCount; ++size_class) {
      const auto index = static_cast<size_t>(size_class);
      Spill(size_class, shard.slots[index].data(), shard.counts[index]);
      shard.counts[index] = 0;
    }
  }
  const std::lock_guard lock(central_);
  for (const int index : unused_) mapping_.Forget(index * kSlabBytes, kSlabBytes);
  // Unused slabs at the end are forgotten altogether, which lowers warm_bytes.
  while (!slabs_.empty() && unused_.erase(static_cast<int>(slabs_.size()) - 1) > 0) {
    slabs_.pop_back();
    warm_bytes_.fetch_sub(kSlabBytes, std::memory_order_relaxed);
  }
}

}  // namespace shoal::memory
