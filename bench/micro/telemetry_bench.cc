// What it costs a call to be measured and logged.
//
//   build/release/bin/telemetry_bench
//
// Each benchmark checks in the same run that nothing was lost.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "server/telemetry/log.h"
#include "server/telemetry/throughput.h"

namespace shoal::telemetry {
namespace {

CallSample Sample(int64_t i) {
  return {.bytes_in = 64,
          .bytes_out = 64,
          .latency = Duration(20000 + (i & 1023) * 16),
          .phases = {.queue = Duration(100),
                     .transfer_in = Duration(200),
                     .compute = Duration(300),
                     .collective = Duration(50),
                     .transfer_out = Duration(150)}};
}

int64_t CallCount(const ThroughputTable& table) {
  int64_t count = 0;
  for (const ThroughputRow& row : table.Snapshot()) count += row.call_count;
  return count;
}

class TableFixture : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State& state) override {
    if (state.thread_index() == 0) {
      table_ = std::make_unique<ThroughputTable>(std::vector<std::string>(8, "op"));
    }
  }

 protected:
  std::unique_ptr<ThroughputTable> table_;
};

BENCHMARK_DEFINE_F(TableFixture, Record)(benchmark::State& state) {
  int64_t i = 0;
  for (auto _ : state) {
    table_->Record({.op = static_cast<int32_t>(i & 7)}, Sample(i));
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
  if (state.threads() == 1) SHOAL_CHECK(CallCount(*table_) == i);
}
BENCHMARK_REGISTER_F(TableFixture, Record)->ThreadRange(1, 8)->UseRealTime();

BENCHMARK_DEFINE_F(TableFixture, RecordBatchOf64)(benchmark::State& state) {
  int64_t i = 0;
  for (auto _ : state) table_->RecordMany({}, Sample(++i), 64);
  state.SetItemsProcessed(state.iterations() * 64);
  SHOAL_CHECK(CallCount(*table_) == i * 64);
}
BENCHMARK_REGISTER_F(TableFixture, RecordBatchOf64);

BENCHMARK_DEFINE_F(TableFixture, SnapshotOf100Rows)(benchmark::State& state) {
  for (int64_t row = 0; row < 100; ++row) {
    table_->Record({.op = static_cast<int32_t>(row % 5)}, {.bytes_in = int64_t{1} << (row / 5)});
  }
  for (auto _ : state) benchmark::DoNotOptimize(table_->Snapshot());
  SHOAL_CHECK(table_->Snapshot().size() == 100);
}
BENCHMARK_REGISTER_F(TableFixture, SnapshotOf100Rows);

void LogBelowTheLevel(benchmark::State& state) {
  Logger log({.level = LogLevel::kInfo});
  const std::string op = "axpy";
  int64_t bytes = 0;
  for (auto _ : state) {
    log.Debug("call", {{"op", op}, {"bytes_in", ++bytes}, {"bytes_out", bytes}});
    benchmark::ClobberMemory();
  }
}
BENCHMARK(LogBelowTheLevel);

void LogBelowTheLevelWithoutFields(benchmark::State& state) {
  Logger log({.level = LogLevel::kInfo});
  for (auto _ : state) {
    log.Debug("call");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(LogBelowTheLevelWithoutFields);

void EmptyLoop(benchmark::State& state) {
  int64_t bytes = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(++bytes);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(EmptyLoop);

void LogLine(benchmark::State& state) {
  const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  SHOAL_CHECK(fd >= 0);
  {
    Logger log({.fd = fd, .format = static_cast<LogFormat>(state.range(0))});
    int64_t bytes = 0;
    for (auto _ : state) log.Info("call", {{"op", "axpy"}, {"bytes_in", ++bytes}, {"ratio", 0.5}});
    SHOAL_CHECK(log.lost_count() == 0);
  }
  close(fd);
}
BENCHMARK(LogLine)->ArgName("json")->Arg(0)->Arg(1);

void LimiterRefusal(benchmark::State& state) {
  LogLimiter limiter(1, 1);
  limiter.Admit(Instant(std::chrono::hours(1)));
  int64_t refused = 0;
  for (auto _ : state) refused += limiter.Admit(Instant{}).has_value() ? 0 : 1;
  SHOAL_CHECK(refused == state.iterations() && limiter.TakeSwallowed() == refused);
}
BENCHMARK(LimiterRefusal);

}  // namespace
}  // namespace shoal::telemetry

BENCHMARK_MAIN();
