#include "client/cli/json_view.h"

#include <cmath>
#include <complex>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "base/check.h"
#include "client/cli/elements.h"
#include "client/cli/text.h"
#include "shoal/status.h"

namespace shoal::cli {
namespace {

std::string Text(absl::string_view text) { return std::string(text); }

const char* Name(WorkerInfo::State state) {
  switch (state) {
    case WorkerInfo::State::kUnknown:
      return "unknown";
    case WorkerInfo::State::kReady:
      return "ready";
    case WorkerInfo::State::kDraining:
      return "draining";
    case WorkerInfo::State::kLost:
      return "lost";
  }
  SHOAL_UNREACHABLE("worker state");
}

Json Real(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json Real(float value) { return Real(static_cast<double>(value)); }
template <typename T>
Json Real(std::complex<T> value) {
  return Json::array({Real(value.real()), Real(value.imag())});
}
template <typename T>
requires kIsBits<T> Json Real(T value) { return Real(ToFloat(value)); }

template <typename T>
Json Element(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return Real(value);
  }
}

Json OpJson(const OpInfo& op) {
  Json params = Json::array();
  for (const OpParam& param : op.params) {
    params.push_back({{"name", param.name}, {"doc", param.doc}});
  }
  Json dtypes = Json::array();
  for (const Dtype dtype : op.dtypes) dtypes.push_back(Text(DtypeName(dtype)));
  return {{"name", op.name},
          {"doc", op.doc},
          {"arguments_min", op.arguments_min},
          {"arguments_max", op.arguments_max},
          {"params", params},
          {"dtypes", dtypes},
          {"backends", op.backends}};
}

}  // namespace

Json ToJson(const ArrayInfo& info) {
  Json shards = Json::array();
  for (const Shard& shard : info.shards) {
    shards.push_back({{"worker", shard.worker}, {"begin", shard.begin}, {"end", shard.end}});
  }
  return {{"id", info.id},
          {"name", info.name},
          {"dtype", Text(DtypeName(info.dtype))},
          {"shape", info.shape},
          {"bytes", info.bytes},
          {"distribution", FormatDistribution(info.distribution)},
          {"complete", info.complete},
          {"acknowledged_bytes", info.acknowledged_bytes},
          {"shards", shards}};
}

Json ToJson(const ServerInfo& info) {
  Json ops = Json::array();
  for (const OpInfo& op : info.ops) ops.push_back(OpJson(op));
  const ServerLimits& limits = info.limits;
  return {{"version", info.version},
          {"instance_id", info.instance_id},
          {"backend", info.backend},
          {"worker_count", info.worker_count},
          {"uptime_ns", info.uptime.count()},
          {"draining", info.draining},
          {"limits",
           {{"inline_bytes", limits.inline_bytes},
            {"chunk_bytes", limits.chunk_bytes},
            {"message_bytes", limits.message_bytes},
            {"credit_chunks", limits.credit_chunks},
            {"rank", limits.rank},
            {"session_tasks", limits.session_tasks},
            {"queued_tasks", limits.queued_tasks},
            {"resume_timeout_ns", limits.resume_timeout.count()},
            {"arguments", limits.arguments},
            {"lease_bytes", limits.lease_bytes}}},
          {"planes",
           {{"unix_socket", info.planes.unix_socket}, {"lease_socket", info.planes.lease_socket}}},
          {"ops", ops}};
}

Json ToJson(const WorkerList& list) {
  Json workers = Json::array();
  for (const WorkerInfo& worker : list.workers) {
    workers.push_back({{"id", worker.id},
                       {"state", Name(worker.state)},
                       {"backend", worker.backend},
                       {"device", worker.device},
                       {"threads", worker.threads},
                       {"memory_limit_bytes", worker.memory_limit_bytes},
                       {"memory_used_bytes", worker.memory_used_bytes},
                       {"memory_peak_bytes", worker.memory_peak_bytes},
                       {"array_count", worker.array_count},
                       {"running_count", worker.running_count},
                       {"finished_count", worker.finished_count},
                       {"failed_count", worker.failed_count},
                       {"incarnation", worker.incarnation},
                       {"address", worker.address}});
  }
  return {{"workers", workers}, {"queued_count", list.queued_count}};
}

Json ToJson(const Timing& timing) {
  return {{"queue_ns", timing.queue.count()},
          {"transfer_in_ns", timing.transfer_in.count()},
          {"compute_ns", timing.compute.count()},
          {"collective_ns", timing.collective.count()},
          {"transfer_out_ns", timing.transfer_out.count()}};
}

Json ToJson(const ThroughputReport& report) {
  Json rows = Json::array();
  for (const ThroughputRow& row : report.rows) {
    rows.push_back({{"op", row.op},
                    {"route", FormatRoute(row.route)},
                    {"plane", row.plane},
                    {"bytes_min", row.bytes_min},
                    {"call_count", row.call_count},
                    {"failed_count", row.failed_count},
                    {"bytes_in", row.bytes_in},
                    {"bytes_out", row.bytes_out},
                    {"bytes_per_second", Real(row.bytes_per_second)},
                    {"p50_ns", row.p50.count()},
                    {"p90_ns", row.p90.count()},
                    {"p99_ns", row.p99.count()},
                    {"max_ns", row.max.count()},
                    {"time", ToJson(row.time)}});
  }
  return {{"uptime_ns", report.uptime.count()}, {"rows", rows}};
}

Json ToJson(const absl::Status& status) {
  Json error = {{"code", absl::StatusCodeToString(status.code())},
                {"message", Text(status.message())}};
  const std::string reason = ErrorReason(status);
  if (!reason.empty()) error["reason"] = reason;
  return {{"error", error}};
}

Json ElementsToJson(const Array& array) {
  return VisitDtype(array.dtype(), [&]<typename T>(std::type_identity<T>) {
    Json list = Json::array();
    for (int64_t i = 0; i < array.element_count(); ++i) {
      list.push_back(Element(LoadElement<T>(array, i)));
    }
    return list;
  });
}

std::string ToText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace shoal::cli
