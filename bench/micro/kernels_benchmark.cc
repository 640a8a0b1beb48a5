#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/sort.h"
#include "kernels/registry.h"

// Every op of the table on every dtype at three sizes, one thread, beside plain streams with the
// same traffic in the same run. Time and bytes per second are what counts; correctness is proven in
// tests/kernels.
namespace shoal::kernels::cpu {
namespace {

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte[], FreeDeleter>;

/// Page-aligned memory, every page of it touched.
Memory Allocate(int64_t bytes) {
  const auto rounded = static_cast<size_t>((bytes + 4095) / 4096 * 4096);
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(4096, rounded)));
  std::memset(memory.get(), 1, rounded);
  return memory;
}

Memory RandomBytes(DType dtype, int64_t count) {
  Memory memory = Allocate(count * ItemBytes(dtype));
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < count * ItemBytes(dtype); i += 8) {
    const uint64_t bits = dtype == DType::kBool ? random() & 0x0101010101010101U : random();
    std::memcpy(memory.get() + i, &bits, 8);
  }
  return memory;
}

/// Bit patterns of floats at random hold NaNs and infinities, which cost nothing extra, and
/// subnormals, which may; the exponent's lowest bits alone vary here.
Memory RandomNumbers(DType dtype, int64_t count) {
  Memory memory = RandomBytes(dtype, count);
  for (int64_t i = 0; i < count; ++i) {
    std::byte* at = memory.get() + i * ItemBytes(dtype);
    const double value = 1.0 + static_cast<double>(static_cast<uint8_t>(*at)) / 256;
    const auto single = static_cast<float>(value);
    if (dtype == DType::kFloat32) std::memcpy(at, &single, 4);
    if (dtype == DType::kFloat64) std::memcpy(at, &value, 8);
    if (dtype == DType::kFloat16 || dtype == DType::kBfloat16) at[1] = std::byte{0x3c};
  }
  return memory;
}

void SetRates(benchmark::State& state, int64_t count, int64_t bytes) {
  state.SetItemsProcessed(state.iterations() * count);
  state.SetBytesProcessed(state.iterations() * bytes);
}

void StreamAdd(benchmark::State& state) {
  const int64_t count = state.range(0);
  const Memory x = RandomNumbers(DType::kFloat32, count);
  const Memory y = RandomNumbers(DType::kFloat32, count);
  const Memory out = Allocate(count * 4);
  auto* a = reinterpret_cast<float*>(x.get());
  auto* b = reinterpret_cast<float*>(y.get());
  auto* c = reinterpret_cast<float*>(out.get());
  for ([[maybe_unused]] auto _ : state) {
    for (int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
    benchmark::ClobberMemory();
  }
  SetRates(state, count, 12 * count);
}

/// Reads everything with the widest loads the compiler makes of a xor.
void StreamRead(benchmark::State& state) {
  const int64_t count = state.range(0);
  const Memory x = RandomBytes(DType::kUint64, count);
  const auto* a = reinterpret_cast<const uint64_t*>(x.get());
  for ([[maybe_unused]] auto _ : state) {
    uint64_t lanes[16] = {};
    for (int64_t i = 0; i + 16 <= count; i += 16) {
      for (int j = 0; j < 16; ++j) lanes[j] ^= a[i + j];
    }
    benchmark::DoNotOptimize(lanes);
  }
  SetRates(state, count, 8 * count);
}

void Memcpy(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  const Memory x = Allocate(bytes);
  const Memory y = Allocate(bytes);
  for ([[maybe_unused]] auto _ : state) {
    std::memcpy(y.get(), x.get(), static_cast<size_t>(bytes));
    benchmark::ClobberMemory();
  }
  SetRates(state, bytes, 2 * bytes);
}

void Map(benchmark::State& state, const OpInfo* op, DType dtype, Stores stores) {
  const int64_t count = state.range(0);
  const Memory x = RandomNumbers(dtype, count);
  const Memory y = RandomNumbers(dtype, count);
  const Memory out = Allocate(count * ItemBytes(dtype));
  const MapKernel kernel = OpKernel(*op, dtype);
  std::vector<MapInput> inputs(kernel.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].data = i == 0 ? x.get() : y.get();
  const std::vector<Scalar> scalars(kernel.scalars.size(), 3.0);
  void* const output = out.get();
  const MapArgs args = {inputs, scalars, {&output, 1}, 0, count};
  for ([[maybe_unused]] auto _ : state) {
    RunMap(kernel, args, {0, count}, stores);
    benchmark::ClobberMemory();
  }
  SetRates(state, count, (op->inputs_min + 1) * count * ItemBytes(dtype));
}

void Reduce(benchmark::State& state, const OpInfo* op, DType dtype) {
  const int64_t count = state.range(0);
  const Memory x = RandomNumbers(dtype, count);
  const Memory y = RandomNumbers(dtype, count);
  std::byte value[16];
  for ([[maybe_unused]] auto _ : state) {
    ReduceAll(*op, {dtype, {x.get(), y.get()}, 0, count}, value);
    benchmark::DoNotOptimize(value);
  }
  SetRates(state, count, op->inputs_min * count * ItemBytes(dtype));
}

void Sort(benchmark::State& state, const OpInfo* op, DType dtype) {
  const int64_t count = state.range(0);
  const Memory input = RandomBytes(dtype, count);
  const Memory data = Allocate(count * ItemBytes(dtype));
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    std::memcpy(data.get(), input.get(), static_cast<size_t>(count * ItemBytes(dtype)));
    state.ResumeTiming();
    RunSort(*op, {dtype, data.get(), 1, count});
  }
  SetRates(state, count, count * ItemBytes(dtype));
}

void Merge(benchmark::State& state, DType dtype, int64_t run_count) {
  const int64_t count = state.range(0) / run_count * run_count;
  const Memory input = RandomBytes(dtype, count);
  const Memory output = Allocate(count * ItemBytes(dtype));
  SortRows({dtype, input.get(), run_count, count / run_count});
  std::vector<SortedRun> runs;
  for (int64_t i = 0; i < run_count; ++i) {
    const int64_t begin = i * (count / run_count);
    runs.push_back({input.get() + begin * ItemBytes(dtype), count / run_count});
  }
  for ([[maybe_unused]] auto _ : state) {
    MergeRuns({dtype, runs, 0, count, output.get()});
  }
  SetRates(state, count, 2 * count * ItemBytes(dtype));
}

constexpr int64_t kSmall = 8;
constexpr int64_t kInCache = 4096;
constexpr int64_t kInMemory = 1 << 24;

void RegisterOp(const OpInfo& op, DType dtype) {
  const std::string name = std::string(op.name) + "/" + std::string(Name(dtype));
  switch (op.form) {
    case OpForm::kMove:
      break;
    case OpForm::kMap:
      benchmark::RegisterBenchmark(name.c_str(), &Map, &op, dtype, Stores::kCached)
          ->Arg(kSmall)
          ->Arg(kInCache)
          ->Arg(kInMemory);
      benchmark::RegisterBenchmark((name + "/streaming").c_str(), &Map, &op, dtype,
                                   Stores::kStreaming)
          ->Arg(kInMemory);
      break;
    case OpForm::kReduce:
      benchmark::RegisterBenchmark(name.c_str(), &Reduce, &op, dtype)
          ->Arg(kSmall)
          ->Arg(kInCache)
          ->Arg(kInMemory);
      break;
    case OpForm::kSort:
      benchmark::RegisterBenchmark(name.c_str(), &Sort, &op, dtype)
          ->Arg(1000)
          ->Arg(kInMemory)
          ->UseRealTime();
      for (const int64_t runs : {2, 4, 8, 32}) {
        const std::string merge = "merge" + std::to_string(runs) + "/" + std::string(Name(dtype));
        benchmark::RegisterBenchmark(merge.c_str(), &Merge, dtype, runs)->Arg(kInMemory);
      }
      break;
  }
}

void RegisterAll() {
  benchmark::RegisterBenchmark("stream/add", &StreamAdd)->Arg(kInCache)->Arg(kInMemory);
  benchmark::RegisterBenchmark("stream/read", &StreamRead)->Arg(kInCache / 2)->Arg(kInMemory);
  benchmark::RegisterBenchmark("stream/memcpy", &Memcpy)->Arg(4 * kInCache)->Arg(4 * kInMemory);
  for (const OpInfo& op : AllOps()) {
    for (const DType dtype : kAllDTypes) {
      if (op.Supports(dtype)) RegisterOp(op, dtype);
    }
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu

int main(int argc, char** argv) {
  shoal::kernels::cpu::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
