#include "server/memory/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/units.h"
#include "server/memory/shortage.h"

namespace shoal::memory {
namespace {

std::unique_ptr<Arena> MakeArena(int64_t capacity_bytes) {
  return *Arena::Create({"arena", capacity_bytes, true});
}

/// Fills the ends and some of the middle, so that overlaps show.
void Mark(const Block& block, uint8_t mark) {
  const int64_t step = std::max<int64_t>(block.bytes() / 8, 1);
  for (int64_t i = 0; i < block.bytes(); i += step) block.data()[i] = std::byte{mark};
  if (block.bytes() > 0) block.data()[block.bytes() - 1] = std::byte{mark};
}

bool HasMark(const Block& block, uint8_t mark) {
  const int64_t step = std::max<int64_t>(block.bytes() / 8, 1);
  for (int64_t i = 0; i < block.bytes(); i += step) {
    if (block.data()[i] != std::byte{mark}) return false;
  }
  return block.bytes() == 0 || block.data()[block.bytes() - 1] == std::byte{mark};
}

int64_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long long total = 0;
  long long resident = 0;
  EXPECT_EQ(std::fscanf(file, "%lld %lld", &total, &resident), 2);
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(ArenaTest, ExtentsAreAlignedAndOfTheSizeAskedFor) {
  const auto arena = MakeArena(64 * kMiB);
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{63}, int64_t{64}, int64_t{65},
                              64 * kKiB, 64 * kKiB + 1, kMiB - 1, kMiB, 5 * kMiB + 3}) {
    const absl::StatusOr<Block> block = arena->Allocate(bytes);
    ASSERT_TRUE(block.ok()) << block.status();
    EXPECT_EQ(block->bytes(), bytes);
    ASSERT_NE(block->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % kExtentAlignment, 0U);
    std::memset(block->data(), 1, static_cast<size_t>(bytes));
  }
  EXPECT_EQ(arena->Stats().used_bytes, 0);
}

TEST(ArenaTest, RefusesBeforeTouchingAnything) {
  const auto arena = MakeArena(10 * kMiB);
  const Block held = *arena->Allocate(4 * kMiB);
  const absl::Status refused = arena->Allocate(7 * kMiB).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ShortageOf(refused), (Shortage{7 * kMiB, 6 * kMiB, 10 * kMiB}));
  for (const int64_t bytes : {10 * kMiB + 1, INT64_MAX - 1, INT64_MAX}) {
    const absl::Status hopeless = arena->Allocate(bytes).status();
    ASSERT_TRUE(ShortageOf(hopeless).has_value()) << hopeless;
    EXPECT_EQ(ShortageOf(hopeless)->needed_bytes, bytes);
    EXPECT_TRUE(ShortageOf(hopeless)->IsPermanent());
  }
  EXPECT_EQ(arena->Stats().used_bytes, 4 * kMiB);
  EXPECT_EQ(arena->Stats().warm_bytes, 4 * kMiB);
}

TEST(ArenaTest, TheWholeCapacityCanBeUsedInAnySizes) {
  const auto arena = MakeArena(8 * kMiB);
  for (const int64_t bytes : {int64_t{64}, 64 * kKiB, 128 * kKiB, kMiB, 8 * kMiB}) {
    std::vector<Block> blocks;
    for (int64_t used = 0; used < 8 * kMiB; used += bytes) {
      absl::StatusOr<Block> block = arena->Allocate(bytes);
      ASSERT_TRUE(block.ok()) << block.status() << " after " << used;
      blocks.push_back(*std::move(block));
    }
    EXPECT_FALSE(arena->Allocate(1).ok());
  }
  EXPECT_EQ(arena->Stats().peak_bytes, 8 * kMiB);
}

TEST(ArenaTest, WarmMemoryIsUsedAgain) {
  const auto arena = MakeArena(kGiB);
  for (int i = 0; i < 100; ++i) {
    const Block a = *arena->Allocate(3 * kMiB);
    const Block b = *arena->Allocate(500 * kKiB);
    const Block c = *arena->Allocate(1000);
  }
  EXPECT_LE(arena->Stats().warm_bytes, 3 * kMiB + 512 * kKiB + 256 * kKiB);
}

TEST(ArenaTest, FreshArenaCostsNextToNothing) {
  const int64_t before = ResidentBytes();
  const auto arena = MakeArena(16 * kGiB);
  EXPECT_LT(ResidentBytes() - before, 256 * kKiB);
}

TEST(ArenaTest, TrimGivesPagesBack) {
  const auto arena = MakeArena(256 * kMiB);
  const Block kept = *arena->Allocate(1000);
  Mark(kept, 9);
  {
    const Block large = *arena->Allocate(64 * kMiB);
    std::memset(large.data(), 1, 64 * kMiB);
    const int64_t full = ResidentBytes();
    EXPECT_GE(arena->Stats().warm_bytes, 64 * kMiB);
    arena->Trim();
    EXPECT_TRUE(HasMark(large, 1)) << "what is in use stays";
    EXPECT_GE(ResidentBytes(), full - 8 * kMiB);
  }
  const int64_t full = ResidentBytes();
  arena->Trim();
  EXPECT_LE(ResidentBytes(), full - 56 * kMiB);
  EXPECT_LE(arena->Stats().warm_bytes, kMiB);
  EXPECT_TRUE(HasMark(kept, 9));
}

TEST(ArenaTest, ResidentMemoryKeepsToTheCapWhenSizesChange) {
  const auto arena = MakeArena(32 * kMiB);
  for (const int64_t bytes : {30 * kMiB, 512 * kKiB, 20 * kKiB, 8 * kMiB}) {
    std::vector<Block> blocks;
    while (true) {
      absl::StatusOr<Block> block = arena->Allocate(bytes);
      if (!block.ok()) break;
      std::memset(block->data(), 1, static_cast<size_t>(bytes));
      blocks.push_back(*std::move(block));
    }
    EXPECT_LE(arena->Stats().warm_bytes, 36 * kMiB) << bytes;
  }
}

// A map of what is out against the arena, over random sizes and orders.
TEST(ArenaTest, RandomUseAgreesWithAModel) {
  constexpr int64_t kCapacity = 48 * kMiB;
  const auto arena = MakeArena(kCapacity);
  std::mt19937_64 random(7);
  struct Entry {
    Block block;
    uint8_t mark;
  };
  std::map<std::byte*, Entry> model;
  for (int step = 0; step < 30'000; ++step) {
    if (random() % 2 == 0 || model.empty()) {
      const int64_t ceiling = int64_t{1} << random() % 24;
      absl::StatusOr<Block> block =
          arena->Allocate(1 + static_cast<int64_t>(random() % static_cast<uint64_t>(ceiling)));
      if (!block.ok()) {
        ASSERT_GT(arena->Stats().used_bytes, kCapacity / 2);
        model.clear();
        ASSERT_EQ(arena->Stats().used_bytes, 0);
        continue;
      }
      const auto after = model.lower_bound(block->data());
      ASSERT_TRUE(after == model.end() || block->data() + block->bytes() <= after->first);
      ASSERT_TRUE(after == model.begin() ||
                  std::prev(after)->first + std::prev(after)->second.block.bytes() <=
                      block->data());
      const auto mark = static_cast<uint8_t>(random());
      Mark(*block, mark);
      model.emplace(block->data(), Entry{*std::move(block), mark});
    } else {
      auto victim = model.begin();
      std::advance(victim, static_cast<int64_t>(random() % std::min<size_t>(model.size(), 64)));
      ASSERT_TRUE(HasMark(victim->second.block, victim->second.mark));
      model.erase(victim);
    }
    if (step % 5000 == 4999) arena->Trim();
  }
  for (const auto& [data, entry] : model) ASSERT_TRUE(HasMark(entry.block, entry.mark));
}

TEST(ArenaTest, ThreadsMayReleaseEachOthersBlocks) {
  const auto arena = MakeArena(64 * kMiB);
  std::mutex mutex;
  std::vector<std::pair<Block, uint8_t>> pool;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<uint64_t>(t));
      for (int i = 0; i < 5000; ++i) {
        absl::StatusOr<Block> block =
            arena->Allocate(static_cast<int64_t>(1 + random() % (uint64_t{1} << random() % 21)));
        const auto mark = static_cast<uint8_t>(random());
        if (block.ok()) Mark(*block, mark);
        std::pair<Block, uint8_t> mine;
        {
          const std::lock_guard lock(mutex);
          if (block.ok()) pool.emplace_back(*std::move(block), mark);
          if (pool.size() > 40 || (!pool.empty() && i % 3 == 0)) {
            const size_t index = random() % pool.size();
            std::swap(pool[index], pool.back());
            mine = std::move(pool.back());
            pool.pop_back();
          }
        }
        wrong += HasMark(mine.first, mine.second) ? 0 : 1;
        if (i % 1000 == 0) arena->Trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  pool.clear();
  EXPECT_EQ(arena->Stats().used_bytes, 0);
}

TEST(ArenaDeathTest, BlocksMustNotOutliveTheirArena) {
  EXPECT_DEATH(
      {
        auto arena = MakeArena(kMiB);
        const Block held = *arena->Allocate(1);
        arena.reset();
      },
      "used_bytes");
}

}  // namespace
}  // namespace shoal::memory
