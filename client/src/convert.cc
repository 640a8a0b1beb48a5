#include "client/src/convert.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace shoal::internal {
namespace {

using std::chrono::nanoseconds;

nanoseconds FromProto(const google::protobuf::Duration& proto) {
  // A peer's number: kept to a century, so that it fits into nanoseconds.
  constexpr int64_t kSecondsMax = int64_t{100} * 365 * 24 * 3600;
  const int64_t seconds = std::min(std::max<int64_t>(proto.seconds(), 0), kSecondsMax);
  return std::chrono::seconds(seconds) + nanoseconds(proto.nanos());
}

std::optional<Dtype> FromProto(v1::Dtype dtype) {
  // A row for each dtype of the contract, and for no other: what passes here has its row.
  static_assert(kDtypeEntries.size() == v1::Dtype_MAX, "see kDtypeTable in shoal/dtype.h");
  if (dtype <= v1::DTYPE_UNSPECIFIED || dtype > v1::Dtype_MAX) return std::nullopt;
  return static_cast<Dtype>(dtype);
}

Route FromProto(v1::Route route) {
  return route >= v1::ROUTE_FRONT && route <= v1::ROUTE_DEVICE ? static_cast<Route>(route)
                                                               : Route::kDefault;
}

Distribution FromProto(const v1::Distribution& proto) {
  Distribution distribution;
  if (proto.kind() == v1::Distribution::KIND_REPLICATED) {
    distribution.kind = Distribution::Kind::kReplicated;
  } else if (proto.kind() == v1::Distribution::KIND_SINGLE) {
    distribution.kind = Distribution::Kind::kSingle;
  }
  distribution.workers.assign(proto.workers().begin(), proto.workers().end());
  return distribution;
}

v1::Distribution::Kind ToProto(Distribution::Kind kind) {
  switch (kind) {
    case Distribution::Kind::kBlock:
      return v1::Distribution::KIND_BLOCK;
    case Distribution::Kind::kReplicated:
      return v1::Distribution::KIND_REPLICATED;
    case Distribution::Kind::kSingle:
      return v1::Distribution::KIND_SINGLE;
  }
  return v1::Distribution::KIND_UNSPECIFIED;
}

OpOutput FromProto(v1::OpOutput output) {
  const bool known = output >= v1::OP_OUTPUT_UNSPECIFIED && output <= v1::OP_OUTPUT_SCALAR;
  return known ? static_cast<OpOutput>(output) : OpOutput::kUnknown;
}

OpInfo FromProto(const v1::OpInfo& proto) {
  OpInfo op{.name = proto.name(),
            .doc = proto.doc(),
            .arguments_min = proto.arguments_min(),
            .arguments_max = proto.arguments_max(),
            .params = {},
            .dtypes = {},
            .backends = {proto.backends().begin(), proto.backends().end()},
            .output = FromProto(proto.output())};
  for (const auto& param : proto.params()) op.params.push_back({param.name(), param.doc()});
  for (const int number : proto.dtypes()) {
    const std::optional<Dtype> dtype = FromProto(static_cast<v1::Dtype>(number));
    if (dtype.has_value()) op.dtypes.push_back(*dtype);  // A newer server may know more of them.
  }
  return op;
}

WorkerInfo FromProto(const v1::WorkerInfo& proto) {
  WorkerInfo worker;
  worker.id = proto.id();
  if (proto.state() >= v1::WorkerInfo::STATE_READY && proto.state() <= v1::WorkerInfo::STATE_LOST) {
    worker.state = static_cast<WorkerInfo::State>(proto.state());
  }
  worker.backend = proto.backend();
  worker.device = proto.device();
  worker.threads = proto.threads();
  worker.memory_limit_bytes = proto.memory_limit_bytes();
  worker.memory_used_bytes = proto.memory_used_bytes();
  worker.memory_peak_bytes = proto.memory_peak_bytes();
  worker.array_count = proto.array_count();
  worker.running_count = proto.running_count();
  worker.finished_count = proto.finished_count();
  worker.failed_count = proto.failed_count();
  worker.incarnation = proto.incarnation();
  worker.address = proto.address();
  return worker;
}

}  // namespace

void ToProto(Dtype dtype, const Shape& shape, v1::ArraySpec* spec) {
  spec->set_dtype(static_cast<v1::Dtype>(dtype));
  spec->mutable_shape()->Assign(shape.begin(), shape.end());
}

void ToProto(const ArrayRef& reference, v1::ArrayRef* proto) {
  if (reference.id != 0) {
    proto->set_id(reference.id);
  } else {
    proto->set_name(reference.name);
  }
}

void ToProto(const Distribution& distribution, v1::Distribution* proto) {
  proto->set_kind(ToProto(distribution.kind));
  proto->mutable_workers()->Assign(distribution.workers.begin(), distribution.workers.end());
}

void ToProto(const Store& store, v1::Store* proto) {
  proto->set_name(store.name);
  proto->set_replace(store.replace);
  if (store.distribution.has_value()) ToProto(*store.distribution, proto->mutable_distribution());
}

void ToProto(const Param& param, v1::Param* proto) {
  proto->set_name(param.name);
  struct Setter {
    v1::Param* proto;
    void operator()(double value) const { proto->set_float_value(value); }
    void operator()(int64_t value) const { proto->set_int_value(value); }
    void operator()(uint64_t value) const { proto->set_uint_value(value); }
    void operator()(bool value) const { proto->set_bool_value(value); }
  };
  std::visit(Setter{proto}, param.value);
}

v1::Route ToProto(Route route) { return static_cast<v1::Route>(route); }

absl::StatusOr<Spec> FromProto(const v1::ArraySpec& proto) {
  const std::optional<Dtype> dtype = FromProto(proto.dtype());
  if (!dtype.has_value()) {
    return absl::InternalError(absl::StrCat("the server sent dtype ", proto.dtype()));
  }
  Spec spec{*dtype, {proto.shape().begin(), proto.shape().end()}, 0};
  absl::StatusOr<int64_t> bytes = ByteCount(spec.dtype, spec.shape);
  if (!bytes.ok()) {
    return absl::InternalError(absl::StrCat("the server sent an impossible array: ",
                                            absl::string_view(bytes.status().message())));
  }
  spec.bytes = *bytes;
  return spec;
}

absl::StatusOr<ArrayInfo> FromProto(const v1::ArrayInfo& proto) {
  SHOAL_ASSIGN_OR_RETURN(Spec spec, FromProto(proto.spec()));
  ArrayInfo info{.id = proto.id(),
                 .name = proto.name(),
                 .dtype = spec.dtype,
                 .shape = std::move(spec.shape),
                 .distribution = FromProto(proto.distribution()),
                 .shards = {},
                 .bytes = spec.bytes,
                 .complete = proto.complete(),
                 .acknowledged_bytes = proto.acknowledged_bytes()};
  for (const auto& shard : proto.shards()) {
    info.shards.push_back({shard.worker(), shard.begin(), shard.end()});
  }
  return info;
}

ServerInfo FromProto(const v1::GetServerInfoResponse& proto) {
  const v1::ServerLimits& limits = proto.limits();
  ServerInfo info;
  info.version = proto.version();
  info.instance_id = proto.instance_id();
  info.limits = {.inline_bytes = limits.inline_bytes(),
                 .chunk_bytes = limits.chunk_bytes(),
                 .message_bytes = limits.message_bytes(),
                 .credit_chunks = limits.credit_chunks(),
                 .rank = limits.rank(),
                 .session_tasks = limits.session_tasks(),
                 .queued_tasks = limits.queued_tasks(),
                 .resume_timeout = FromProto(limits.resume_timeout()),
                 .arguments = limits.arguments(),
                 .lease_bytes = limits.lease_bytes()};
  info.planes = {proto.planes().unix_socket(), proto.planes().lease_socket(),
                 proto.planes().host_id()};
  for (const auto& op : proto.ops()) info.ops.push_back(FromProto(op));
  info.worker_count = proto.worker_count();
  info.backend = proto.backend();
  info.uptime = FromProto(proto.uptime());
  info.draining = proto.draining();
  return info;
}

WorkerList FromProto(const v1::ListWorkersResponse& proto) {
  WorkerList list{.workers = {}, .queued_count = proto.queued_count()};
  for (const auto& worker : proto.workers()) list.workers.push_back(FromProto(worker));
  return list;
}

ThroughputReport FromProto(const v1::GetThroughputResponse& proto) {
  ThroughputReport report{.rows = {}, .uptime = FromProto(proto.uptime())};
  for (const auto& row : proto.rows()) {
    report.rows.push_back({.op = row.op(),
                           .route = FromProto(row.route()),
                           .plane = row.plane(),
                           .bytes_min = row.bytes_min(),
                           .call_count = row.call_count(),
                           .failed_count = row.failed_count(),
                           .bytes_in = row.bytes_in(),
                           .bytes_out = row.bytes_out(),
                           .bytes_per_second = row.bytes_per_second(),
                           .p50 = nanoseconds(row.p50_ns()),
                           .p90 = nanoseconds(row.p90_ns()),
                           .p99 = nanoseconds(row.p99_ns()),
                           .max = nanoseconds(row.max_ns()),
                           .time = FromProto(row.time())});
  }
  return report;
}

Timing FromProto(const v1::Timing& proto) {
  return {.queue = nanoseconds(proto.queue_ns()),
          .transfer_in = nanoseconds(proto.transfer_in_ns()),
          .compute = nanoseconds(proto.compute_ns()),
          .collective = nanoseconds(proto.collective_ns()),
          .transfer_out = nanoseconds(proto.transfer_out_ns())};
}

}  // namespace shoal::internal
