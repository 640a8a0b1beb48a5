#include "server/service/cluster_service.h"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/registry.h"
#include "kernels/shape.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/cluster.pb.h"

namespace shoal::service {
namespace {

void EncodeLimits(const runtime::Limits& limits, v1::ServerLimits* message) {
  message->set_inline_bytes(limits.inline_bytes);
  message->set_chunk_bytes(limits.chunk_bytes);
  message->set_message_bytes(limits.message_bytes());
  message->set_credit_chunks(limits.credit_chunks);
  message->set_rank(kernels::kRankMax);
  message->set_session_tasks(limits.session_tasks);
  message->set_queued_tasks(limits.queued_tasks);
  wire::EncodeDuration(limits.resume_timeout, message->mutable_resume_timeout());
  message->set_arguments(limits.arguments);
  message->set_lease_bytes(limits.lease_bytes);
}

v1::OpOutput OutputOf(const kernels::OpInfo& op) {
  if (op.form == kernels::OpForm::kMove) return v1::OP_OUTPUT_EACH_ARGUMENT;
  if (op.form == kernels::OpForm::kReduce) return v1::OP_OUTPUT_SCALAR;
  const bool alike = op.dtype_rule == kernels::DTypeRule::kSame &&
                     op.promotion == kernels::Promotion::kNone && !op.condition;
  return alike ? v1::OP_OUTPUT_LIKE_ARGUMENTS : v1::OP_OUTPUT_UNSPECIFIED;
}

void EncodeOp(const kernels::OpInfo& op, const std::string& backend, v1::OpInfo* message) {
  message->set_name(std::string(op.name));
  message->set_doc(std::string(op.doc));
  message->set_arguments_min(op.inputs_min);
  message->set_arguments_max(op.inputs_max);
  for (const kernels::ParamInfo& param : op.params) {
    v1::OpParam* encoded = message->add_params();
    encoded->set_name(std::string(param.name));
    encoded->set_doc(std::string(param.doc));
  }
  for (const kernels::DType dtype : kernels::kAllDTypes) {
    if (op.Supports(dtype)) message->add_dtypes(static_cast<v1::Dtype>(dtype));
  }
  message->add_backends(backend);
  message->set_output(OutputOf(op));
}

void GetServerInfo(runtime::Engine& engine, const ServerFacts& facts, const Reply& reply) {
  v1::GetServerInfoResponse response;
  response.set_version(facts.version);
  response.set_instance_id(facts.instance_id);
  EncodeLimits(engine.limits, response.mutable_limits());
  response.mutable_planes()->set_unix_socket(facts.unix_socket);
  response.mutable_planes()->set_lease_socket(facts.lease_socket);
  response.mutable_planes()->set_host_id(HostId());
  for (const kernels::OpInfo& op : kernels::AllOps()) {
    EncodeOp(op, engine.backend, response.add_ops());
  }
  response.set_worker_count(engine.workers->count());
  response.set_backend(engine.backend);
  wire::EncodeDuration(runtime::Now() - facts.started, response.mutable_uptime());
  response.set_draining(engine.drain.draining());
  reply.Send(response);
}

void EncodeRow(const telemetry::ThroughputRow& row, const std::string& op,
               v1::ThroughputRow* message) {
  message->set_op(op);
  message->set_route(static_cast<v1::Route>(row.key.route));
  message->set_plane(std::string(telemetry::Name(row.key.plane)));
  message->set_bytes_min(row.bytes_min);
  message->set_call_count(row.call_count);
  message->set_failed_count(row.failed_count);
  message->set_bytes_in(row.bytes_in);
  message->set_bytes_out(row.bytes_out);
  message->set_bytes_per_second(row.BytesPerSecond());
  message->set_p50_ns(row.Quantile(0.50).count());
  message->set_p90_ns(row.Quantile(0.90).count());
  message->set_p99_ns(row.Quantile(0.99).count());
  message->set_max_ns(row.latency_max.count());
  EncodeTiming(row.phase_sum, message->mutable_time());
}

void GetThroughput(runtime::Engine& engine, const ServerFacts& facts,
                   const v1::GetThroughputRequest& request, const Reply& reply) {
  v1::GetThroughputResponse response;
  const std::vector<std::string>& names = engine.throughput->op_names();
  for (const telemetry::ThroughputRow& row : engine.throughput->Snapshot()) {
    const std::string& op = names[static_cast<size_t>(row.key.op)];
    if (!request.op().empty() && request.op() != op) continue;
    EncodeRow(row, op, response.add_rows());
  }
  wire::EncodeDuration(runtime::Now() - facts.started, response.mutable_uptime());
  reply.Send(response);
}

void ListWorkers(runtime::Engine& engine, const Reply& reply) {
  v1::ListWorkersResponse response;
  std::vector<int64_t> arrays(static_cast<size_t>(engine.workers->count()), 0);
  for (const auto& array : engine.catalogue->List({}, "", INT32_MAX)) {
    for (const runtime::Shard& shard : array->shards) {
      ++arrays[static_cast<size_t>(shard.worker.value)];
    }
  }
  for (const runtime::Worker& worker : engine.workers->all()) {
    const device::DeviceInfo& info = worker.device->Info();
    const auto counts = engine.dispatcher->WorkerCounts(worker.id);
    v1::WorkerInfo* message = response.add_workers();
    message->set_id(worker.id.value);
    message->set_state(engine.drain.draining() ? v1::WorkerInfo::STATE_DRAINING
                                               : v1::WorkerInfo::STATE_READY);
    message->set_backend(info.kind);
    message->set_device(info.name);
    message->set_threads(info.threads);
    message->set_memory_limit_bytes(info.memory_bytes);
    message->set_memory_used_bytes(worker.device->MemoryUsed());
    message->set_memory_peak_bytes(worker.device->MemoryPeak());
    message->set_array_count(arrays[static_cast<size_t>(worker.id.value)]);
    message->set_running_count(counts.running);
    message->set_finished_count(static_cast<int64_t>(counts.reported));
    message->set_failed_count(static_cast<int64_t>(counts.failed));
    message->set_incarnation(1);
  }
  response.set_queued_count(engine.dispatcher->Counts().waiting);
  reply.Send(response);
}

/// Two may want to answer a Drain, the last task and the caller's deadline: the first does.
struct DrainWait {
  explicit DrainWait(Reply the_reply) : reply(std::move(the_reply)) {}
  bool Claim() { return !answered.exchange(true); }

  const Reply reply;
  std::atomic<bool> answered = false;
};

void Drain(runtime::Engine& engine, const ServerFacts& facts, const Reply& reply) {
  facts.begin_drain();
  auto wait = std::make_shared<DrainWait>(reply);
  reply.call()->OnCancel([wait] {
    if (wait->Claim()) wait->reply.Fail(absl::DeadlineExceededError("still draining"));
  });
  engine.WhenIdle([wait] {
    if (wait->Claim()) wait->reply.Send(v1::DrainResponse());
  });
}

}  // namespace

std::string HostId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  if (!(file >> boot_id)) return "";
  struct stat network {};
  if (stat("/proc/self/ns/net", &network) != 0) return "";
  return absl::StrCat(boot_id, ":", network.st_ino);
}

transport::ServiceTable ClusterService(runtime::Engine* engine, const ServerFacts* facts) {
  return {"shoal.v1.ClusterService",
          {UnaryMethod<v1::GetServerInfoRequest>(
               engine, "GetServerInfo",
               [facts](runtime::Engine& e, const auto&, const Reply& reply) {
                 GetServerInfo(e, *facts, reply);
               }),
           UnaryMethod<v1::GetThroughputRequest>(
               engine, "GetThroughput",
               [facts](runtime::Engine& e, const auto& request, const Reply& reply) {
                 GetThroughput(e, *facts, *request, reply);
               }),
           UnaryMethod<v1::ListWorkersRequest>(
               engine, "ListWorkers",
               [](runtime::Engine& e, const auto&, const Reply& reply) { ListWorkers(e, reply); }),
           UnaryMethod<v1::DrainRequest>(engine, "Drain",
                                         [facts](runtime::Engine& e, const auto&,
                                                 const Reply& reply) { Drain(e, *facts, reply); }),
           UnaryMethod<v1::DumpRequest>(
               engine, "Dump", [](runtime::Engine&, const auto&, const Reply& reply) {
                 reply.Fail(wire::WithReason(
                     absl::UnimplementedError(
                         "Dump is not built yet; use ListWorkers and GetThroughput"),
                     "NOT_BUILT"));
               })}};
}

}  // namespace shoal::service
