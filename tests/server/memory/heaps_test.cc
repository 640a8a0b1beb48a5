#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/units.h"
#include "server/memory/mapping.h"
#include "server/memory/page_heap.h"
#include "server/memory/slab_heap.h"

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

TEST(MappingTest, IsAlignedZeroAndForgets) {
  absl::StatusOr<Mapping> mapping = Mapping::Reserve(4 * kMiB, true);
  ASSERT_TRUE(mapping.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapping->data()) % (2 * kMiB), 0U);
  mapping->data()[0] = std::byte{1};
  mapping->data()[4 * kMiB - 1] = std::byte{1};
  mapping->Forget(0, 2 * kMiB);
  EXPECT_EQ(mapping->data()[0], std::byte{0});
  EXPECT_EQ(mapping->data()[4 * kMiB - 1], std::byte{1});
  EXPECT_FALSE(Mapping::Reserve(INT64_MAX, false).ok());
}

TEST(PageHeapTest, BestFitAtTheLowestAddress) {
  constexpr int64_t kG = PageHeap::kGranuleBytes;
  const auto heap = *PageHeap::Create(64 * kG, false);
  std::byte* const a = heap->Allocate(4 * kG);
  std::byte* const b = heap->Allocate(2 * kG);
  std::byte* const c = heap->Allocate(kG);
  std::byte* const d = heap->Allocate(2 * kG);
  std::byte* const e = heap->Allocate(kG);
  EXPECT_EQ(e, a + 9 * kG);
  heap->Deallocate(b, 2 * kG);
  heap->Deallocate(d, 2 * kG);
  EXPECT_EQ(heap->Allocate(kG), b) << "the lower of two equal runs";
  EXPECT_EQ(heap->Allocate(2 * kG), d) << "the run that fits exactly";
  EXPECT_EQ(heap->Allocate(kG), b + kG);
  EXPECT_EQ(heap->warm_bytes(), 10 * kG);

  heap->Deallocate(a, 4 * kG);
  heap->Deallocate(c, kG);
  heap->Deallocate(b, 2 * kG);  // Two neighbouring runs given back as one.
  EXPECT_EQ(heap->Allocate(7 * kG), a) << "neighbours on both sides are joined";
  EXPECT_EQ(heap->longest_free_bytes(), 54 * kG);
  EXPECT_EQ(heap->Allocate(55 * kG), nullptr);
  heap->Deallocate(a, 7 * kG);
  heap->Deallocate(d, 2 * kG);
  heap->Deallocate(e, kG);
  EXPECT_EQ(heap->longest_free_bytes(), 64 * kG);
}

TEST(PageHeapTest, TrimForgetsFreePagesOnly) {
  constexpr int64_t kG = PageHeap::kGranuleBytes;
  const auto heap = *PageHeap::Create(64 * kG, false);
  std::byte* const a = heap->Allocate(kG);
  std::byte* const b = heap->Allocate(kG);
  std::byte* const c = heap->Allocate(kG);
  for (std::byte* const run : {a, b, c}) run[5] = std::byte{1};
  heap->Deallocate(a, kG);
  heap->Deallocate(c, kG);
  heap->Trim();
  EXPECT_EQ(heap->warm_bytes(), 2 * kG);
  EXPECT_EQ(b[5], std::byte{1});
  EXPECT_EQ(heap->Allocate(kG)[5], std::byte{0});
}

TEST(PageHeapDeathTest, ReleasingTwiceIsCaught) {
  constexpr int64_t kG = PageHeap::kGranuleBytes;
  const auto heap = *PageHeap::Create(64 * kG, false);
  std::byte* const a = heap->Allocate(2 * kG);
  heap->Deallocate(a, 2 * kG);
  EXPECT_DEATH(heap->Deallocate(a + kG, kG), "check failed");
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
