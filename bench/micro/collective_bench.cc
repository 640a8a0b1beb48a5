// Collectives between ranks of one process, beside one memcpy of the bytes that have to move.
// Arguments: ranks, bytes a rank. The root's own block is in place, as a scheduler lays it out.
#include <benchmark/benchmark.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/units.h"
#include "server/collective/local/local_group.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"

namespace shoal::collective {
namespace {

/// Waits for one call at a time.
class Gate {
 public:
  device::Done MakeDone() {
    return [this](const absl::Status& status) {
      const std::lock_guard lock(mutex_);
      ok_ &= status.ok();
      open_ = true;
      changed_.notify_one();
    };
  }
  bool Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
    open_ = false;
    return ok_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  bool ok_ = true;
};

struct Bench {
  explicit Bench(const benchmark::State& state)
      : ranks(static_cast<int>(state.range(0))),
        rank_bytes(state.range(1)),
        arena(*memory::Arena::Create({"arena", 4 * kGiB, true})),
        team(static_cast<int>(std::thread::hardware_concurrency())),
        device(arena.get(), {"worker", 1, 4 * kGiB, std::chrono::microseconds(20)}),
        root(*device.Allocate(rank_bytes * ranks)) {
    LocalGroupOptions options;
    options.ranks_per_member = {ranks};
    options.team = &team;
    member = std::move(MakeLocalGroup(options).front());
    std::memset(root.data(), 1, static_cast<size_t>(root.bytes()));
    for (int rank = 0; rank < ranks; ++rank) {
      streams.push_back(*device.NewStream());
      shards.push_back(*device.Allocate(rank_bytes));
      std::memset(shards.back().data(), rank, static_cast<size_t>(rank_bytes));
    }
    buffers.resize(static_cast<size_t>(ranks));
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i].stream = streams[i].get();
  }

  template <typename Call>
  void Run(benchmark::State& state, int64_t moved_bytes, const Call& call) {
    for (auto _ : state) {
      call();
      if (!gate.Wait()) state.SkipWithError("the call failed");
    }
    state.SetBytesProcessed(state.iterations() * moved_bytes);
  }

  int ranks;
  int64_t rank_bytes;
  std::unique_ptr<memory::Arena> arena;
  threads::Team team;
  device::CpuDevice device;
  device::Buffer root;
  std::vector<device::Buffer> shards;
  std::vector<std::unique_ptr<device::Stream>> streams;
  std::unique_ptr<Communicator> member;
  std::vector<RankBuffers> buffers;
  Gate gate;
};

void BM_Memcpy(benchmark::State& state) {
  Bench bench(state);
  const auto ranks = static_cast<size_t>(bench.ranks);
  for (auto _ : state) {
    for (size_t rank = 1; rank < ranks; ++rank) {
      std::memcpy(bench.shards[rank].data(),
                  bench.root.data() + static_cast<int64_t>(rank) * bench.rank_bytes,
                  static_cast<size_t>(bench.rank_bytes));
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * (bench.ranks - 1) * bench.rank_bytes);
}

void BM_Scatter(benchmark::State& state) {
  Bench bench(state);
  const std::vector<int64_t> counts(static_cast<size_t>(bench.ranks), bench.rank_bytes / 8);
  Args args;
  args.dtype = kernels::DType::kFloat64;
  args.counts = counts;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    bench.buffers[rank].recv = bench.shards[rank].span();
  }
  bench.buffers[0].send = bench.root.span();
  bench.buffers[0].recv = bench.root.span().Sub(0, bench.rank_bytes);
  bench.Run(state, (bench.ranks - 1) * bench.rank_bytes,
            [&] { bench.member->Scatter(args, bench.buffers, bench.gate.MakeDone()); });
}

void BM_Gather(benchmark::State& state) {
  Bench bench(state);
  const std::vector<int64_t> counts(static_cast<size_t>(bench.ranks), bench.rank_bytes / 8);
  Args args;
  args.dtype = kernels::DType::kFloat64;
  args.counts = counts;
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    bench.buffers[rank].send = bench.shards[rank].span();
  }
  bench.buffers[0].recv = bench.root.span();
  bench.buffers[0].send = bench.root.span().Sub(0, bench.rank_bytes);
  bench.Run(state, (bench.ranks - 1) * bench.rank_bytes,
            [&] { bench.member->Gather(args, bench.buffers, bench.gate.MakeDone()); });
}

void BM_Broadcast(benchmark::State& state) {
  Bench bench(state);
  const int64_t count = bench.rank_bytes / 8;
  Args args;
  args.dtype = kernels::DType::kFloat64;
  args.counts = {&count, 1};
  for (size_t rank = 0; rank < bench.buffers.size(); ++rank) {
    bench.buffers[rank].recv = bench.shards[rank].span();
  }
  bench.buffers[0].send = bench.shards[0].span();
  bench.Run(state, (bench.ranks - 1) * bench.rank_bytes,
            [&] { bench.member->Broadcast(args, bench.buffers, bench.gate.MakeDone()); });
}

void BM_AllReduce(benchmark::State& state) {
  Bench bench(state);
  const int64_t count = bench.rank_bytes / 8;
  Args args;
  args.dtype = kernels::DType::kFloat64;
  args.counts = {&count, 1};
  for (size_t rank = 0; rank < bench.buffers.size(); ++rank) {
    bench.buffers[rank].send = bench.shards[rank].span();
    bench.buffers[rank].recv = bench.shards[rank].span();
  }
  bench.Run(state, bench.ranks * bench.rank_bytes,
            [&] { bench.member->AllReduce(args, bench.buffers, bench.gate.MakeDone()); });
}

void Sizes(benchmark::internal::Benchmark* bench) {
  for (const int64_t ranks : {2, 3, 4}) {
    for (const int64_t bytes : {int64_t{64}, int64_t{80'000}, int64_t{400'000}, kMiB,
                                int64_t{1'600'000}, 4 * kMiB, 64 * kMiB}) {
      bench->Args({ranks, bytes});
    }
  }
  bench->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(BM_Memcpy)->Apply(Sizes);
BENCHMARK(BM_Scatter)->Apply(Sizes);
BENCHMARK(BM_Gather)->Apply(Sizes);
BENCHMARK(BM_Broadcast)->Apply(Sizes);
BENCHMARK(BM_AllReduce)->Apply(Sizes);

}  // namespace
}  // namespace shoal::collective
