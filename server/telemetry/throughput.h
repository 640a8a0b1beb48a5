#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "server/telemetry/call_observer.h"
#include "server/telemetry/latency_histogram.h"

namespace shoal::telemetry {

std::string_view Name(Route route);  ///< "front", "worker", "device".
std::string_view Name(Plane plane);  ///< "inline", "stream", "lease", "session".

inline constexpr int kRouteCount = 3;
inline constexpr int kPlaneCount = 4;

/// What one call did. Payload bytes, without framing.
struct CallSample {
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
  Duration latency{};
  PhaseTimes phases{};
  bool failed = false;
};

/// Calls of one op, route, plane and size class (`shoal.v1.ThroughputRow`).
struct ThroughputRow {
  CallKey key;
  /// The class holds calls whose payload, in and out together, is in [bytes_min, 2 x bytes_min);
  /// 0 holds empty calls only.
  int64_t bytes_min = 0;
  int64_t call_count = 0;  ///< Failed ones included.
  int64_t failed_count = 0;
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
  Duration latency_sum{};
  Duration latency_max{};
  PhaseTimes phase_sum{};
  LatencyHistogram latencies;

  /// Payload bytes, in and out, by second spent in calls; 0 if none was spent.
  double BytesPerSecond() const;
  /// Within 1/8 of the true value, and never above the maximum.
  Duration Quantile(double q) const;
};

/// What the service measures about itself: always on, for every call.
///
/// Thread-safe. Recording never waits: each CPU has a shard of its own, taken for the few
/// nanoseconds of one record; who finds its shard taken (its holder was preempted) goes to the
/// next, then to a shared one with atomic additions. An idle table takes a few hundred bytes;
/// memory for a row (about 1 KiB a shard) comes with its first call and stays.
class ThroughputTable final : public CallObserver {
 public:
  explicit ThroughputTable(std::vector<std::string> op_names);
  ~ThroughputTable() override;
  ThroughputTable(const ThroughputTable&) = delete;
  ThroughputTable& operator=(const ThroughputTable&) = delete;

  const std::vector<std::string>& op_names() const { return op_names_; }

  void Record(const CallKey& key, const CallSample& sample) { RecordMany(key, sample, 1); }

  void OnCalls(const CallRecord& record, int64_t count) override;

  /// `count` calls that were alike: each had this sample. Costs as much as one.
  void RecordMany(const CallKey& key, const CallSample& sample, int64_t count);

  /// The rows that have calls, by op, route, plane and size. Calls recorded meanwhile may show in
  /// some columns of their row only; those recorded before show in all.
  std::vector<ThroughputRow> Snapshot() const;

  /// Memory that the rows take so far.
  int64_t AllocatedBytes() const;

 private:
  class Shards;

  const std::vector<std::string> op_names_;
  const std::unique_ptr<Shards> shards_;
};

}  // namespace shoal::telemetry
