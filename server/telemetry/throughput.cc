#include "server/telemetry/throughput.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/check.h"
#include "server/telemetry/throughput_shard.h"

namespace shoal::telemetry {
namespace {

using internal::Access;
using internal::Lazy;
using internal::ThroughputShard;

size_t SeriesOf(const CallKey& key) {
  const auto route = static_cast<size_t>(key.route) - 1;
  return (static_cast<size_t>(key.op) * kRouteCount + route) * kPlaneCount +
         static_cast<size_t>(key.plane);
}

CallKey KeyOf(size_t series) {
  return {.op = static_cast<int32_t>(series / (kRouteCount * kPlaneCount)),
          .route = static_cast<Route>(series / kPlaneCount % kRouteCount + 1),
          .plane = static_cast<Plane>(series % kPlaneCount)};
}

}  // namespace

// One shard a CPU, each made by the first call on that CPU, and the shared one behind them.
class ThroughputTable::Shards {
 public:
  explicit Shards(size_t op_count)
      : series_count_(op_count * kRouteCount * kPlaneCount),
        own_(std::max(1u, std::thread::hardware_concurrency())) {}

  void Add(size_t series, const CallSample& sample, int64_t count) {
    const auto cpu = static_cast<size_t>(std::max(0, sched_getcpu()));
    for (size_t attempt = 0; attempt < 2; ++attempt) {
      ThroughputShard& shard =
          own_[(cpu + attempt) % own_.size()].GetOrCreate(allocated_bytes_, series_count_);
      if (!shard.TryTake()) continue;
      shard.Add<Access::kExclusive>(series, sample, count);
      shard.GiveBack();
      return;
    }
    shared_.GetOrCreate(allocated_bytes_, series_count_)
        .Add<Access::kShared>(series, sample, count);
  }

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Lazy<ThroughputShard>& shard : own_) {
      if (shard.get() != nullptr) visit(*shard.get());
    }
    if (shared_.get() != nullptr) visit(*shared_.get());
  }

  int64_t AllocatedBytes() const {
    int64_t bytes = allocated_bytes_.load(std::memory_order_relaxed);
    ForEach([&](const ThroughputShard& shard) {
      bytes += shard.allocated_bytes() + static_cast<int64_t>(series_count_ * sizeof(void*));
    });
    return bytes;
  }

 private:
  const size_t series_count_;
  std::atomic<int64_t> allocated_bytes_{0};
  std::vector<Lazy<ThroughputShard>> own_;
  Lazy<ThroughputShard> shared_;
};

std::string_view Name(Route route) {
  switch (route) {
    case Route::kFront:
      return "front";
    case Route::kWorker:
      return "worker";
    case Route::kDevice:
      return "device";
  }
  SHOAL_UNREACHABLE("route");
}

std::string_view Name(Plane plane) {
  switch (plane) {
    case Plane::kInline:
      return "inline";
    case Plane::kStream:
      return "stream";
    case Plane::kLease:
      return "lease";
    case Plane::kSession:
      return "session";
  }
  SHOAL_UNREACHABLE("plane");
}

double ThroughputRow::BytesPerSecond() const {
  const double seconds = std::chrono::duration<double>(latency_sum).count();
  return seconds > 0 ? static_cast<double>(bytes_in + bytes_out) / seconds : 0;
}

Duration ThroughputRow::Quantile(double q) const {
  return std::min(latencies.Quantile(q), latency_max);
}

ThroughputTable::ThroughputTable(std::vector<std::string> op_names)
    : op_names_(std::move(op_names)), shards_(std::make_unique<Shards>(op_names_.size())) {}

ThroughputTable::~ThroughputTable() = default;

void ThroughputTable::OnCalls(const CallRecord& record, int64_t count) {
  RecordMany(record.key,
             {.bytes_in = record.bytes_in,
              .bytes_out = record.bytes_out,
              .latency = record.ended - record.begun,
              .phases = record.phases,
              .failed = record.code != absl::StatusCode::kOk},
             count);
}

void ThroughputTable::RecordMany(const CallKey& key, const CallSample& sample, int64_t count) {
  SHOAL_CHECK(key.op >= 0 && static_cast<size_t>(key.op) < op_names_.size());
  SHOAL_CHECK(sample.bytes_in >= 0 && sample.bytes_out >= 0 && count >= 0);
  if (count > 0) shards_->Add(SeriesOf(key), sample, count);
}

std::vector<ThroughputRow> ThroughputTable::Snapshot() const {
  // Keys first: rows are large, and so each is made once, in its place.
  std::vector<size_t> keys;
  shards_->ForEach([&](const ThroughputShard& shard) {
    shard.ForEachRow([&](size_t key, const internal::RowCounts&) { keys.push_back(key); });
  });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());

  std::vector<ThroughputRow> rows(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t size = keys[i] % internal::kSizeClasses;
    rows[i].key = KeyOf(keys[i] / internal::kSizeClasses);
    rows[i].bytes_min = size == 0 ? 0 : int64_t{1} << (size - 1);
  }
  shards_->ForEach([&](const ThroughputShard& shard) {
    shard.ForEachRow([&](size_t key, const internal::RowCounts& counts) {
      const auto found = std::lower_bound(keys.begin(), keys.end(), key);
      if (found == keys.end() || *found != key) return;  // Made since.
      internal::AddRow(counts, rows[static_cast<size_t>(found - keys.begin())]);
    });
  });
  // A row may have been made whose first call is still being added.
  std::erase_if(rows, [](const ThroughputRow& row) { return row.call_count == 0; });
  return rows;
}

int64_t ThroughputTable::AllocatedBytes() const { return shards_->AllocatedBytes(); }

}  // namespace shoal::telemetry
