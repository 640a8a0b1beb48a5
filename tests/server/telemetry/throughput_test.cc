#include "server/telemetry/throughput.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace shoal::telemetry {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr CallKey kSum = {.op = 1, .route = Route::kDevice, .plane = Plane::kStream};

TEST(ThroughputTableTest, ARowHoldsEverythingOfItsCalls) {
  ThroughputTable table({"echo", "sum"});
  table.Record(kSum, {.bytes_in = 1000,
                      .bytes_out = 8,
                      .latency = milliseconds(2),
                      .phases = {.queue = microseconds(1),
                                 .transfer_in = microseconds(2),
                                 .compute = microseconds(3),
                                 .collective = microseconds(4),
                                 .transfer_out = microseconds(5)}});
  table.Record(kSum, {.bytes_in = 600, .latency = milliseconds(6), .failed = true});
  const std::vector<ThroughputRow> rows = table.Snapshot();
  ASSERT_EQ(rows.size(), 1u);
  const ThroughputRow& row = rows[0];
  EXPECT_EQ(row.key.op, 1);
  EXPECT_EQ(row.key.route, Route::kDevice);
  EXPECT_EQ(row.key.plane, Plane::kStream);
  EXPECT_EQ(row.bytes_min, 512);
  EXPECT_EQ(row.call_count, 2);
  EXPECT_EQ(row.failed_count, 1);
  EXPECT_EQ(row.bytes_in, 1600);
  EXPECT_EQ(row.bytes_out, 8);
  EXPECT_EQ(row.latency_sum, milliseconds(8));
  EXPECT_EQ(row.latency_max, milliseconds(6));
  EXPECT_EQ(row.phase_sum.queue, microseconds(1));
  EXPECT_EQ(row.phase_sum.transfer_in, microseconds(2));
  EXPECT_EQ(row.phase_sum.compute, microseconds(3));
  EXPECT_EQ(row.phase_sum.collective, microseconds(4));
  EXPECT_EQ(row.phase_sum.transfer_out, microseconds(5));
  EXPECT_DOUBLE_EQ(row.BytesPerSecond(), 1608 / 0.008);
  EXPECT_NEAR(static_cast<double>(row.Quantile(0.5).count()), 2e6, 2e6 / 8);
  EXPECT_LE(row.Quantile(1), row.latency_max);
}

TEST(ThroughputTableTest, SizeClassesArePowersOfTwoAndZeroIsAlone) {
  ThroughputTable table({"echo"});
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4},
                              int64_t{1023}, int64_t{1024}, int64_t{1} << 40, INT64_MAX}) {
    table.Record({}, {.bytes_in = bytes, .latency = microseconds(1)});
  }
  std::vector<int64_t> mins, counts;
  for (const ThroughputRow& row : table.Snapshot()) {
    mins.push_back(row.bytes_min);
    counts.push_back(row.call_count);
  }
  EXPECT_EQ(mins,
            (std::vector<int64_t>{0, 1, 2, 4, 512, 1024, int64_t{1} << 40, int64_t{1} << 62}));
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 1, 2, 1, 1, 1, 1, 1}));
}

TEST(ThroughputTableTest, RowsComeByOpRoutePlaneAndSize) {
  ThroughputTable table({"a", "b"});
  const CallSample small = {.bytes_in = 1}, large = {.bytes_in = 100};
  table.Record({.op = 1, .route = Route::kFront, .plane = Plane::kSession}, large);
  table.Record({.op = 1, .route = Route::kFront, .plane = Plane::kSession}, small);
  table.Record({.op = 1, .route = Route::kFront, .plane = Plane::kInline}, large);
  table.Record({.op = 0, .route = Route::kDevice, .plane = Plane::kSession}, large);
  const std::vector<ThroughputRow> rows = table.Snapshot();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].key.op, 0);
  EXPECT_EQ(rows[0].key.route, Route::kDevice);
  EXPECT_EQ(rows[0].key.plane, Plane::kSession);
  EXPECT_EQ(rows[1].key.plane, Plane::kInline);
  EXPECT_EQ(rows[2].bytes_min, 1);
  EXPECT_EQ(rows[3].bytes_min, 64);
}

TEST(ThroughputTableTest, ManyAlikeCountAsEachOfThem) {
  ThroughputTable table({"echo"});
  table.RecordMany(
      {},
      {.bytes_in = 3, .latency = Duration(250), .phases = {.queue = Duration(7)}, .failed = true},
      1000);
  table.RecordMany({}, {.bytes_in = 3}, 0);
  const std::vector<ThroughputRow> rows = table.Snapshot();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].call_count, 1000);
  EXPECT_EQ(rows[0].failed_count, 1000);
  EXPECT_EQ(rows[0].bytes_in, 3000);
  EXPECT_EQ(rows[0].latency_sum, Duration(250000));
  EXPECT_EQ(rows[0].latency_max, Duration(250));
  EXPECT_EQ(rows[0].phase_sum.queue, Duration(7000));
}

TEST(ThroughputTableTest, NoCallIsLostOrCountedTwiceUnderContention) {
  constexpr int kThreads = 8;
  constexpr int64_t kCalls = 20000;
  ThroughputTable table({"a", "b"});
  std::atomic<bool> done{false};
  std::jthread reader([&] {
    int64_t last = 0;
    while (!done) {
      int64_t now = 0;
      for (const ThroughputRow& row : table.Snapshot()) now += row.call_count;
      EXPECT_GE(now, last) << "counts never go back";
      last = now;
    }
  });
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&table] {
      for (int64_t i = 0; i < kCalls; ++i) {
        table.Record({.op = static_cast<int32_t>(i % 2)},
                     {.bytes_in = i, .bytes_out = 1, .latency = Duration(100 + i)});
      }
    });
  }
  threads.clear();
  done = true;
  reader.join();
  int64_t calls = 0, bytes_in = 0, bytes_out = 0;
  Duration latency{};
  for (const ThroughputRow& row : table.Snapshot()) {
    calls += row.call_count;
    bytes_in += row.bytes_in;
    bytes_out += row.bytes_out;
    latency += row.latency_sum;
  }
  const int64_t each = kCalls * (kCalls - 1) / 2;
  EXPECT_EQ(calls, kThreads * kCalls);
  EXPECT_EQ(bytes_in, kThreads * each);
  EXPECT_EQ(bytes_out, kThreads * kCalls);
  EXPECT_EQ(latency.count(), kThreads * (each + 100 * kCalls));
}

TEST(ThroughputTableTest, AnIdleTableIsSmallAndABusyOneModest) {
  ThroughputTable table(std::vector<std::string>(200, "op"));
  EXPECT_EQ(table.AllocatedBytes(), 0);
  for (int i = 0; i < 100; ++i) table.Record({.op = i}, {.latency = microseconds(i)});
  EXPECT_GT(table.AllocatedBytes(), 0);
  EXPECT_LT(table.AllocatedBytes(), 600 << 10);
}

TEST(ThroughputTableTest, ObservedCallsCountAsRecorded) {
  ThroughputTable table({"echo", "sum"});
  CallRecord call;
  call.key = {.op = 1, .route = Route::kDevice, .plane = Plane::kLease};
  call.begun = Instant(microseconds(100));
  call.ended = Instant(microseconds(130));
  call.bytes_in = 60;
  call.bytes_out = 4;
  call.phases.compute = microseconds(20);
  table.OnCalls(call, 5);
  call.code = absl::StatusCode::kCancelled;
  table.OnCalls(call, 1);
  const auto rows = table.Snapshot();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.op, 1);
  EXPECT_EQ(rows[0].key.route, Route::kDevice);
  EXPECT_EQ(rows[0].key.plane, Plane::kLease);
  EXPECT_EQ(rows[0].call_count, 6);
  EXPECT_EQ(rows[0].failed_count, 1);
  EXPECT_EQ(rows[0].bytes_in, 6 * 60);
  EXPECT_EQ(rows[0].bytes_out, 6 * 4);
  EXPECT_EQ(rows[0].latency_max, microseconds(30));
  EXPECT_EQ(rows[0].phase_sum.compute, microseconds(120));
}

TEST(ThroughputTableDeathTest, AnOpThatIsNotInTheTableIsAFault) {
  ThroughputTable table({"echo"});
  EXPECT_DEATH(table.Record({.op = 1}, {}), "check failed");
  EXPECT_DEATH(table.Record({.op = -1}, {}), "check failed");
}

}  // namespace
}  // namespace shoal::telemetry
