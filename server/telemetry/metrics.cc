#include "server/telemetry/metrics.h"

#include <prometheus/text_serializer.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace shoal::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// Bounds are powers of four of nanoseconds, 1 µs to 69 s: edges of the histogram's own buckets, so
// that nothing is interpolated.
constexpr int kFirstExponent = 10;
constexpr int kLastExponent = 36;
constexpr int kExponentStep = 2;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

MetricFamily Family(std::string name, std::string help, MetricType type) {
  MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

void AddCounter(MetricFamily& family, Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  family.metric.push_back(std::move(metric));
}

void AddGauge(MetricFamily& family, Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}

ClientMetric::Histogram ToHistogram(const LatencyHistogram& latencies, Duration sum) {
  ClientMetric::Histogram histogram;
  histogram.sample_count = static_cast<uint64_t>(latencies.TotalCount());
  histogram.sample_sum = Seconds(sum);
  for (int exponent = kFirstExponent; exponent <= kLastExponent; exponent += kExponentStep) {
    histogram.bucket.push_back(
        {.cumulative_count = static_cast<uint64_t>(latencies.CountBelowPower(exponent)),
         .upper_bound = std::ldexp(1.0, exponent) / 1e9});
  }
  histogram.bucket.push_back({.cumulative_count = histogram.sample_count,
                              .upper_bound = std::numeric_limits<double>::infinity()});
  return histogram;
}

struct OpTotals {
  int64_t call_count = 0;
  int64_t failed_count = 0;
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
  PhaseTimes phases;
};

struct SeriesTotals {
  LatencyHistogram latencies;
  Duration latency_sum{};
};

// The rows, with sizes (and routes and planes) summed away.
struct Totals {
  std::map<int32_t, OpTotals> by_op;
  std::map<std::tuple<int32_t, Route, Plane>, SeriesTotals> by_series;
};

Totals Sum(const std::vector<ThroughputRow>& rows) {
  Totals totals;
  for (const ThroughputRow& row : rows) {
    OpTotals& op = totals.by_op[row.key.op];
    op.call_count += row.call_count;
    op.failed_count += row.failed_count;
    op.bytes_in += row.bytes_in;
    op.bytes_out += row.bytes_out;
    op.phases += row.phase_sum;
    SeriesTotals& series = totals.by_series[{row.key.op, row.key.route, row.key.plane}];
    series.latencies.Merge(row.latencies);
    series.latency_sum += row.latency_sum;
  }
  return totals;
}

void AppendCalls(const ThroughputTable& table, std::vector<MetricFamily>& families) {
  const Totals totals = Sum(table.Snapshot());
  MetricFamily seconds =
      Family("shoal_call_seconds", "Time from a call's start to its end.", MetricType::Histogram);
  for (const auto& [key, series] : totals.by_series) {
    const auto& [op, route, plane] = key;
    ClientMetric metric;
    metric.label = {{"op", table.op_names()[static_cast<size_t>(op)]},
                    {"route", std::string(Name(route))},
                    {"plane", std::string(Name(plane))}};
    metric.histogram = ToHistogram(series.latencies, series.latency_sum);
    seconds.metric.push_back(std::move(metric));
  }

  MetricFamily bytes = Family("shoal_call_bytes_total", "Payload bytes of calls, without framing.",
                              MetricType::Counter);
  MetricFamily calls = Family("shoal_calls_total", "Calls that have ended.", MetricType::Counter);
  MetricFamily phases =
      Family("shoal_phase_seconds_total", "Where calls spent their time; phases may overlap.",
             MetricType::Counter);
  for (const auto& [op, total] : totals.by_op) {
    const std::string& name = table.op_names()[static_cast<size_t>(op)];
    AddCounter(bytes, {{"op", name}, {"direction", "in"}}, static_cast<double>(total.bytes_in));
    AddCounter(bytes, {{"op", name}, {"direction", "out"}}, static_cast<double>(total.bytes_out));
    AddCounter(calls, {{"op", name}, {"outcome", "ok"}},
               static_cast<double>(total.call_count - total.failed_count));
    AddCounter(calls, {{"op", name}, {"outcome", "error"}},
               static_cast<double>(total.failed_count));
    const std::array<std::pair<const char*, Duration>, 5> split = {
        {{"queue", total.phases.queue},
         {"transfer_in", total.phases.transfer_in},
         {"compute", total.phases.compute},
         {"collective", total.phases.collective},
         {"transfer_out", total.phases.transfer_out}}};
    for (const auto& [phase, time] : split) {
      AddCounter(phases, {{"op", name}, {"phase", phase}}, Seconds(time));
    }
  }
  for (MetricFamily* family : {&seconds, &bytes, &calls, &phases}) {
    families.push_back(std::move(*family));
  }
}

void AppendGauges(const ServiceGauges& gauges, std::vector<MetricFamily>& families) {
  const auto add = [&](const char* name, const char* help, int64_t value) {
    families.push_back(Family(name, help, MetricType::Gauge));
    AddGauge(families.back(), {}, static_cast<double>(value));
  };
  add("shoal_queue_depth", "Tasks that wait for a worker.", gauges.queue_depth);
  add("shoal_calls_in_flight", "Calls that have begun and not ended.", gauges.in_flight);
  add("shoal_arrays", "Arrays that the service holds.", gauges.arrays);
  add("shoal_array_bytes", "Bytes of these arrays, replicas not counted.", gauges.array_bytes);
  add("shoal_sessions", "Open sessions.", gauges.sessions);
  add("shoal_leases", "Memory regions lent to clients.", gauges.leases);
  add("shoal_draining", "1 while the service takes no new work.", gauges.draining ? 1 : 0);

  MetricFamily up = Family("shoal_worker_up", "1 while the worker takes work.", MetricType::Gauge);
  MetricFamily memory =
      Family("shoal_worker_memory_bytes", "A worker's array memory.", MetricType::Gauge);
  for (const WorkerGauges& worker : gauges.workers) {
    const std::string id = std::to_string(worker.id);
    AddGauge(up, {{"worker", id}}, worker.up ? 1 : 0);
    AddGauge(memory, {{"worker", id}, {"kind", "used"}},
             static_cast<double>(worker.memory_used_bytes));
    AddGauge(memory, {{"worker", id}, {"kind", "limit"}},
             static_cast<double>(worker.memory_limit_bytes));
  }
  families.push_back(std::move(up));
  families.push_back(std::move(memory));
}

}  // namespace

std::vector<MetricFamily> ServiceMetrics::Collect() const {
  std::vector<MetricFamily> families;
  AppendCalls(*sources_.throughput, families);
  AppendGauges(sources_.gauges(), families);
  families.push_back(Family("shoal_info", "What is running.", MetricType::Gauge));
  AddGauge(families.back(), {{"version", sources_.version}}, 1);
  return families;
}

std::string ServiceMetrics::Text() const {
  return prometheus::TextSerializer().Serialize(Collect());
}

}  // namespace shoal::telemetry
