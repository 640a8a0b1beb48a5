// What an allocation costs, beside malloc, and what the first touch of fresh memory costs.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/units.h"
#include "server/memory/arena.h"

namespace shoal::memory {
namespace {

std::unique_ptr<Arena> MakeArena(bool huge_pages) {
  return *Arena::Create({"arena", 4 * kGiB, huge_pages});
}

void BM_ArenaPair(benchmark::State& state) {
  const auto arena = MakeArena(true);
  for (auto _ : state) {
    const absl::StatusOr<Block> block = arena->Allocate(state.range(0));
    benchmark::DoNotOptimize(block->data());
  }
}
BENCHMARK(BM_ArenaPair)->Arg(64)->Arg(4096)->Arg(65536)->Arg(1 << 20)->Arg(64 << 20);

void BM_MallocPair(benchmark::State& state) {
  for (auto _ : state) {
    void* const block = std::malloc(static_cast<size_t>(state.range(0)));
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}
BENCHMARK(BM_MallocPair)->Arg(64)->Arg(4096)->Arg(65536)->Arg(1 << 20)->Arg(64 << 20);

// 1000 blocks live; each round replaces a random one by one of a random size up to the given.
void BM_ArenaChurn(benchmark::State& state) {
  const auto arena = MakeArena(true);
  std::mt19937_64 random(1);
  std::vector<Block> blocks(1000);
  for (auto _ : state) {
    Block& block = blocks[random() % blocks.size()];
    block.Release();
    block = *arena->Allocate(
        1 + static_cast<int64_t>(random() % static_cast<uint64_t>(state.range(0))));
  }
}
BENCHMARK(BM_ArenaChurn)->Arg(65536)->Arg(2 << 20);

void BM_ArenaThreads(benchmark::State& state) {
  static std::unique_ptr<Arena>* const arena = new std::unique_ptr<Arena>(MakeArena(true));
  for (auto _ : state) {
    const absl::StatusOr<Block> block = (*arena)->Allocate(state.range(0));
    benchmark::DoNotOptimize(block->data());
  }
}
BENCHMARK(BM_ArenaThreads)->Arg(64)->Arg(1 << 20)->Threads(2)->UseRealTime();

void BM_FirstTouch(benchmark::State& state) {
  constexpr int64_t kBytes = 64 * kMiB;
  for (auto _ : state) {
    state.PauseTiming();
    {
      const auto arena = MakeArena(state.range(0) != 0);
      const Block block = *arena->Allocate(kBytes);
      state.ResumeTiming();
      std::memset(block.data(), 1, kBytes);
      state.PauseTiming();  // Giving the pages back is not part of it.
    }
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * kBytes);
}
BENCHMARK(BM_FirstTouch)->ArgName("huge_pages")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shoal::memory
