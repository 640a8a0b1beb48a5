#include "server/memory/slab_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace shoal::memory {
namespace {

TEST(SizeClassTest, EachSizeFitsItsClassTightly) {
  for (int64_t bytes = 1; bytes <= SlabHeap::kSlotBytesMax; ++bytes) {
    const int size_class = SlabHeap::ClassOf(bytes);
    const int64_t slot = SlabHeap::SlotBytes(size_class);
    ASSERT_GE(slot, bytes);
    ASSERT_EQ(slot % 64, 0);
    ASSERT_TRUE(size_class == 0 || SlabHeap::SlotBytes(size_class - 1) < bytes);
    ASSERT_LE(slot, std::max((bytes + 63) / 64 * 64, bytes + bytes / 4)) << bytes;
  }
}

TEST(SlabHeapTest, UsesEverySlotThenSaysSo) {
  const auto heap = *SlabHeap::Create(2 * SlabHeap::kSlabBytes);
  const int size_class = SlabHeap::ClassOf(20'000);
  const int64_t slots = 2 * (SlabHeap::kSlabBytes / SlabHeap::SlotBytes(size_class));
  std::vector<std::byte*> all;
  for (int64_t i = 0; i < slots; ++i) {
    all.push_back(heap->Allocate(size_class));
    ASSERT_NE(all.back(), nullptr) << i;
  }
  // A magazine may hold no slot now: every one was handed out.
  EXPECT_EQ(heap->Allocate(size_class), nullptr);
  for (std::byte* const slot : all) heap->Deallocate(slot, size_class);
  heap->Trim();
  EXPECT_EQ(heap->warm_bytes(), 0);
  EXPECT_NE(heap->Allocate(0), nullptr) << "a free slab serves another class";
}

TEST(SlabHeapTest, SlotsComeFromTheLowestAddressUp) {
  const auto heap = *SlabHeap::Create(8 * SlabHeap::kSlabBytes);
  EXPECT_EQ(heap->Allocate(0), heap->data());
  EXPECT_EQ(heap->warm_bytes(), SlabHeap::kSlabBytes);
}

}  // namespace
}  // namespace shoal::memory
