#include "server/memory/page_heap.h"

#include <gtest/gtest.h>

#include <memory>

namespace shoal::memory {
namespace {

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

}  // namespace
}  // namespace shoal::memory
