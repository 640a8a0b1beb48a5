// What a launch costs beside the kernel, when it runs on the calling thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>

#include "base/units.h"
#include "kernels/cpu/map.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"

namespace shoal::device {
namespace {

MapWork Add(const Buffer& x, const Buffer& y, int64_t count) {
  MapWork work{kernels::FindOp("add"), {}};
  work.args.dtype = kernels::DType::kFloat32;
  work.args.inputs = {x.data(), y.data()};
  work.args.output = y.data();
  work.args.count = count;
  return work;
}

struct Bench {
  explicit Bench(int64_t bytes)
      : arena(*memory::Arena::Create({"arena", kGiB, true})),
        device(arena.get(), {"worker", 1, kGiB, std::chrono::microseconds(20)}),
        stream(*device.NewStream()),
        x(*device.Allocate(bytes)),
        y(*device.Allocate(bytes)) {
    std::fill_n(x.data(), bytes, std::byte{0});
    std::fill_n(y.data(), bytes, std::byte{0});
  }
  std::unique_ptr<memory::Arena> arena;
  CpuDevice device;
  std::unique_ptr<Stream> stream;
  Buffer x;
  Buffer y;
};

void BM_KernelAlone(benchmark::State& state) {
  Bench bench(state.range(0));
  const MapWork work = Add(bench.x, bench.y, state.range(0) / 4);
  for (auto _ : state) kernels::cpu::RunMap(*work.op, work.args);
}
BENCHMARK(BM_KernelAlone)->Arg(64)->Arg(65536);

void BM_LaunchInline(benchmark::State& state) {
  Bench bench(state.range(0));
  const MapWork work = Add(bench.x, bench.y, state.range(0) / 4);
  int64_t done = 0;
  for (auto _ : state) {
    bench.stream->Launch(work, nullptr, [&](const absl::Status& status) { done += status.ok(); });
  }
  if (done != state.iterations()) state.SkipWithError("a launch failed");
}
BENCHMARK(BM_LaunchInline)->Arg(64)->Arg(65536);

}  // namespace
}  // namespace shoal::device
