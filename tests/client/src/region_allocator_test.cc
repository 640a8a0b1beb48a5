#include "client/src/region_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace shoal::internal {
namespace {

TEST(RegionAllocatorTest, AlignsAndDoesNotOverlap) {
  RegionAllocator region(1024);
  EXPECT_EQ(region.Allocate(1), 0);
  EXPECT_EQ(region.Allocate(65), 64);
  EXPECT_EQ(region.Allocate(0), 192) << "no bytes have a place of their own too";
  EXPECT_EQ(region.Allocate(1024 - 256), 256);
  EXPECT_EQ(region.Allocate(1), std::nullopt);
  EXPECT_EQ(region.Allocate(INT64_MAX), std::nullopt);
}

TEST(RegionAllocatorTest, JoinsNeighboursInEveryOrder) {
  for (const auto& order : {std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 0, 2},
                            std::array{1, 2, 0}, std::array{2, 0, 1}, std::array{2, 1, 0}}) {
    RegionAllocator region(192);
    std::array<int64_t, 3> parts{};
    for (int64_t& part : parts) part = *region.Allocate(64);
    for (const int i : order) region.Free(parts[static_cast<size_t>(i)]);
    EXPECT_TRUE(region.empty());
    EXPECT_EQ(region.Allocate(192), 0) << "one free part is left";
  }
}

TEST(RegionAllocatorTest, ALongMixedLifeNeverOverlaps) {
  constexpr int64_t kBytes = 1 << 16;
  RegionAllocator region(kBytes);
  std::map<int64_t, int64_t> taken;
  std::mt19937_64 random(20261);
  for (int step = 0; step < 20'000; ++step) {
    if (taken.empty() || random() % 2 == 0) {
      const auto bytes = static_cast<int64_t>(random() % 2000 + 1);
      const auto offset = region.Allocate(bytes);
      if (!offset.has_value()) continue;
      ASSERT_LE(*offset + bytes, kBytes);
      const auto next = taken.lower_bound(*offset);
      if (next != taken.end()) {
        ASSERT_LE(*offset + bytes, next->first);
      }
      if (next != taken.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second, *offset);
      }
      taken[*offset] = bytes;
    } else {
      auto victim = taken.begin();
      std::advance(victim, static_cast<int64_t>(random() % taken.size()));
      region.Free(victim->first);
      taken.erase(victim);
    }
  }
  for (const auto& [offset, bytes] : taken) region.Free(offset);
  EXPECT_EQ(region.Allocate(kBytes), 0);
}

TEST(RegionAllocatorDeathTest, FreeingTwiceIsABug) {
  RegionAllocator region(128);
  const int64_t part = *region.Allocate(1);
  region.Free(part);
  EXPECT_DEATH(region.Free(part), "check failed");
}

}  // namespace
}  // namespace shoal::internal
