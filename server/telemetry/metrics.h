#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/telemetry/throughput.h"

namespace shoal::telemetry {

struct WorkerGauges {
  int32_t id = 0;
  bool up = false;
  int64_t memory_used_bytes = 0;
  int64_t memory_limit_bytes = 0;
};

/// How the service stands at one moment.
struct ServiceGauges {
  int64_t queue_depth = 0;  ///< Tasks that wait.
  int64_t in_flight = 0;    ///< Calls that have begun and not ended, tasks of sessions included.
  int64_t arrays = 0;
  int64_t array_bytes = 0;
  int64_t sessions = 0;
  int64_t leases = 0;
  bool draining = false;
  std::vector<WorkerGauges> workers;
};

/// The service's figures for Prometheus. Names follow its rules: one prefix, base units, the unit
/// in the name, `_total` on counters.
///
///   shoal_call_seconds         histogram; labels op, route, plane
///   shoal_call_bytes_total     counter; op, direction = in, out
///   shoal_calls_total          counter; op, outcome = ok, error
///   shoal_phase_seconds_total  counter; op, phase = queue, transfer_in, ...
///   shoal_queue_depth, shoal_calls_in_flight, shoal_arrays, shoal_array_bytes, shoal_sessions,
///   shoal_leases, shoal_draining
///                              gauges without labels
///   shoal_worker_up            gauge; worker
///   shoal_worker_memory_bytes  gauge; worker, kind = used, limit
///   shoal_info                 gauge, always 1; version
///
/// A series appears with its first call. Thread-safe. The table outlives it.
class ServiceMetrics : public prometheus::Collectable {
 public:
  struct Sources {
    const ThroughputTable* throughput;
    std::function<ServiceGauges()> gauges;  ///< Called at each scrape, from any thread.
    std::string version;
  };

  explicit ServiceMetrics(Sources sources) : sources_(std::move(sources)) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

  /// All families in Prometheus' text format 0.0.4.
  std::string Text() const;

 private:
  const Sources sources_;
};

}  // namespace shoal::telemetry
