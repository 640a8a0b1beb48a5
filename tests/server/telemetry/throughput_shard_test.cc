#include "server/telemetry/throughput_shard.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace shoal::telemetry::internal {
namespace {

ThroughputRow RowOf(const ThroughputShard& shard, size_t wanted) {
  ThroughputRow row;
  shard.ForEachRow([&](size_t key, const RowCounts& counts) {
    if (key == wanted) AddRow(counts, row);
  });
  return row;
}

TEST(ThroughputShardTest, OneHolderAtATime) {
  ThroughputShard shard(1);
  EXPECT_TRUE(shard.TryTake());
  EXPECT_FALSE(shard.TryTake());
  shard.GiveBack();
  EXPECT_TRUE(shard.TryTake());
}

TEST(ThroughputShardTest, BothWaysOfAddingGiveTheSame) {
  ThroughputShard exclusive(2), shared(2);
  for (int64_t i = 0; i < 100; ++i) {
    const CallSample sample = {.bytes_in = i % 4,
                               .bytes_out = 1,
                               .latency = Duration(i * i * i),
                               .phases = {.compute = Duration(i)},
                               .failed = i % 3 == 0};
    exclusive.Add<Access::kExclusive>(1, sample, i);
    shared.Add<Access::kShared>(1, sample, i);
  }
  int row_count = 0;
  exclusive.ForEachRow([&](size_t key, const RowCounts&) {
    const ThroughputRow a = RowOf(exclusive, key), b = RowOf(shared, key);
    EXPECT_EQ(a.call_count, b.call_count);
    EXPECT_EQ(a.failed_count, b.failed_count);
    EXPECT_EQ(a.bytes_in, b.bytes_in);
    EXPECT_EQ(a.bytes_out, b.bytes_out);
    EXPECT_EQ(a.latency_sum, b.latency_sum);
    EXPECT_EQ(a.latency_max, b.latency_max);
    EXPECT_EQ(a.phase_sum.compute, b.phase_sum.compute);
    for (int i = 0; i < LatencyHistogram::kBucketCount; ++i) {
      EXPECT_EQ(a.latencies.BucketCount(i), b.latencies.BucketCount(i));
    }
    ++row_count;
  });
  EXPECT_EQ(row_count, 3) << "payloads of 1, 2 to 3, and 4 bytes";
}

TEST(ThroughputShardTest, ManyMayAddToASharedOneFromItsFirstRowOn) {
  ThroughputShard shard(1);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shard] {
      for (int64_t i = 0; i < 5000; ++i) {
        shard.Add<Access::kShared>(0, {.bytes_in = 1, .latency = Duration(i)}, 1);
      }
    });
  }
  threads.clear();
  const ThroughputRow row = RowOf(shard, 1);
  EXPECT_EQ(row.call_count, 20000);
  EXPECT_EQ(row.latency_max, Duration(4999));
  // One set of rows, one row and the octaves in use: losers of a race gave theirs back.
  EXPECT_LT(shard.allocated_bytes(), static_cast<int64_t>(sizeof(SizeClasses) + sizeof(RowCounts) +
                                                          10 * sizeof(OctaveCounts)));
}

}  // namespace
}  // namespace shoal::telemetry::internal
