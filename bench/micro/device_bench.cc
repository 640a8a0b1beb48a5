// What a launch costs beside the kernel, when it runs on the calling thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/units.h"
#include "kernels/cpu/map.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"

namespace shoal::device {
namespace {

/// y += x, with the memory that its arguments borrow.
class Add {
 public:
  Add(const Buffer& x, const Buffer& y, int64_t count) : count_(count), output_(y.data()) {
    inputs_[0].data = x.data();
    inputs_[1].data = y.data();
  }
  MapWork Work() const { return {&kernel_, {inputs_, {}, {&output_, 1}, 0, count_}}; }

 private:
  const int64_t count_;
  const kernels::MapKernel kernel_ =
      kernels::OpKernel(*kernels::FindOp("add"), kernels::DType::kFloat32);
  std::array<kernels::MapInput, 2> inputs_;
  void* const output_;
};

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
  const Add add(bench.x, bench.y, state.range(0) / 4);
  const MapWork work = add.Work();
  for (auto _ : state) kernels::cpu::RunMap(*work.kernel, work.args, {0, work.args.count});
}
BENCHMARK(BM_KernelAlone)->Arg(64)->Arg(65536);

void BM_LaunchInline(benchmark::State& state) {
  Bench bench(state.range(0));
  const Add add(bench.x, bench.y, state.range(0) / 4);
  const MapWork work = add.Work();
  int64_t done = 0;
  for (auto _ : state) {
    bench.stream->Launch(work, nullptr, [&](const absl::Status& status) { done += status.ok(); });
  }
  if (done != state.iterations()) state.SkipWithError("a launch failed");
}
BENCHMARK(BM_LaunchInline)->Arg(64)->Arg(65536);

}  // namespace
}  // namespace shoal::device
