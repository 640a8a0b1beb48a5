#include "server/memory/arena.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "server/memory/page_heap.h"
#include "server/memory/poison.h"
#include "server/memory/shortage.h"
#include "server/memory/slab_heap.h"

namespace shoal::memory {
namespace {

constexpr int64_t kHugeRunBytesMin = kMiB;

// Address space is free and fragmentation is not: each heap gets twice the capacity, so that the
// cap, not the shape of the free runs, is what ends an allocation.
constexpr int64_t kSpaceFactor = 2;
constexpr int64_t kSpaceBytesMin = 16 * kMiB;

int64_t ReservedBytes(int64_t bytes) {
  if (bytes <= SlabHeap::kSlotBytesMax) return SlabHeap::SlotBytes(SlabHeap::ClassOf(bytes));
  return (bytes + PageHeap::kGranuleBytes - 1) / PageHeap::kGranuleBytes * PageHeap::kGranuleBytes;
}

}  // namespace

Block::Block(Block&& other) noexcept
    : arena_(std::exchange(other.arena_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    Release();
    arena_ = std::exchange(other.arena_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void Block::Release() noexcept {
  if (arena_ != nullptr) arena_->Deallocate(data_, bytes_);
  arena_ = nullptr;
  data_ = nullptr;
  bytes_ = 0;
}

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(const ArenaOptions& options) {
  SHOAL_CHECK(options.capacity_bytes > 0);
  if (options.capacity_bytes > kArenaBytesMax) {
    return absl::ResourceExhaustedError(options.name + ": the capacity is above 16 TiB");
  }
  std::unique_ptr<Arena> arena(new Arena(options));
  const int64_t space = std::max(options.capacity_bytes * kSpaceFactor, kSpaceBytesMin);
  SHOAL_ASSIGN_OR_RETURN(arena->small_pages_, PageHeap::Create(space, /*huge_pages=*/false));
  SHOAL_ASSIGN_OR_RETURN(arena->huge_pages_, PageHeap::Create(space, options.huge_pages));
  SHOAL_ASSIGN_OR_RETURN(arena->slabs_, SlabHeap::Create(space));
  return arena;
}

Arena::Arena(const ArenaOptions& options) : budget_(options.name, options.capacity_bytes) {}

// The heaps go before the budget, whose destructor checks that every block came back.
Arena::~Arena() {
  // The sanitizer's marks would outlive the mapping and hit whoever gets these addresses next.
  if (slabs_ != nullptr) Unpoison(slabs_->data(), slabs_->warm_bytes());
  if (small_pages_ != nullptr) Unpoison(small_pages_->data(), small_pages_->warm_bytes());
  if (huge_pages_ != nullptr) Unpoison(huge_pages_->data(), huge_pages_->warm_bytes());
}

absl::StatusOr<Block> Arena::Allocate(int64_t bytes) {
  SHOAL_ASSIGN_OR_RETURN(std::byte * data, AllocateRaw(bytes));
  return Block(this, data, bytes);
}

absl::StatusOr<std::byte*> Arena::AllocateRaw(int64_t bytes) {
  SHOAL_CHECK(bytes >= 0);
  if (bytes == 0) return slabs_->data();
  // Judged before rounding up, which must not overflow.
  const bool hopeless = bytes > budget_.limit_bytes();
  const int64_t reserved = hopeless ? bytes : ReservedBytes(bytes);
  SHOAL_RETURN_IF_ERROR(budget_.Take(reserved));
  std::byte* const data = AllocateReserved(reserved);
  if (data == nullptr) {
    budget_.Return(reserved);
    const PageHeap& heap = reserved < kHugeRunBytesMin ? *small_pages_ : *huge_pages_;
    return ShortageError(budget_.owner() + " (fragmented)",
                         {reserved, heap.longest_free_bytes(), budget_.limit_bytes()});
  }
  Unpoison(data, bytes);
  return data;
}

std::byte* Arena::AllocateReserved(int64_t reserved_bytes) {
  if (reserved_bytes <= SlabHeap::kSlotBytesMax) {
    const int64_t warm_before = slabs_->warm_bytes();
    const int size_class = SlabHeap::ClassOf(reserved_bytes);
    std::byte* slot = slabs_->Allocate(size_class);
    if (slot == nullptr) {
      slabs_->Trim();  // Other classes or other cores may sit on every free slab.
      slot = slabs_->Allocate(size_class);
    }
    if (slabs_->warm_bytes() > warm_before) TrimAboveCapacity();
    return slot;
  }
  PageHeap& heap = reserved_bytes < kHugeRunBytesMin ? *small_pages_ : *huge_pages_;
  const int64_t warm_before = heap.warm_bytes();
  std::byte* const run = heap.Allocate(reserved_bytes);
  if (heap.warm_bytes() > warm_before) TrimAboveCapacity();
  return run;
}

// Cold space is about to be touched. Were more warm than the cap allows, what lies free and warm
// elsewhere is given back first: resident memory keeps to the cap, too.
void Arena::TrimAboveCapacity() {
  if (WarmBytes() > budget_.limit_bytes()) Trim();
}

void Arena::Deallocate(std::byte* data, int64_t bytes) noexcept {
  if (bytes == 0) return;
  const int64_t reserved = ReservedBytes(bytes);
  Poison(data, bytes);
  if (reserved <= SlabHeap::kSlotBytesMax) {
    slabs_->Deallocate(data, SlabHeap::ClassOf(reserved));
  } else {
    (reserved < kHugeRunBytesMin ? *small_pages_ : *huge_pages_).Deallocate(data, reserved);
  }
  budget_.Return(reserved);
}

int64_t Arena::WarmBytes() const {
  return slabs_->warm_bytes() + small_pages_->warm_bytes() + huge_pages_->warm_bytes();
}

void Arena::Trim() {
  slabs_->Trim();
  small_pages_->Trim();
  huge_pages_->Trim();
}

ArenaStats Arena::Stats() const {
  return {budget_.used_bytes(), budget_.peak_bytes(), budget_.limit_bytes(), WarmBytes()};
}

}  // namespace shoal::memory
