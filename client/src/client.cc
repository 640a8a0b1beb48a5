#include "shoal/client.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "client/src/client_core.h"
#include "client/src/convert.h"
#include "client/src/session_core.h"
#include "shoal/v1/array_service.pb.h"
#include "shoal/v1/cluster.pb.h"

namespace shoal {
namespace {

using internal::CallEnv;
using internal::Method;

absl::Status CheckOptions(const SessionOptions& options) {
  if (options.flush_tasks < 1 || options.flush_bytes < 1 || options.flush_delay.count() < 0 ||
      options.message_tasks_max < 1 || options.message_bytes_max < 1 ||
      options.queue_tasks_max < 1) {
    return absl::InvalidArgumentError("a session option is below its minimum");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<internal::ClientCore> core,
                         internal::ClientCore::Connect(options));
  return std::make_unique<Client>(std::move(core));
}

Client::Client(std::unique_ptr<internal::ClientCore> core) : core_(std::move(core)) {}
Client::~Client() = default;

const ServerInfo& Client::info() const { return core_->info(); }
Plane Client::plane() const { return core_->plane(); }

absl::StatusOr<Array> Client::Allocate(Dtype dtype, Shape shape) {
  return core_->Allocate(dtype, std::move(shape));
}

absl::StatusOr<Array> Client::Echo(const Array& payload, const EchoOptions& options) {
  return core_->Echo(payload, nullptr, options.route, core_->Env(options.timeout));
}

absl::Status Client::EchoInto(const Array& payload, Array& reply, const EchoOptions& options) {
  return core_->Echo(payload, &reply, options.route, core_->Env(options.timeout)).status();
}

absl::StatusOr<Result> Client::Apply(const Call& call) {
  return core_->Apply(call, core_->Env(call.timeout));
}

absl::StatusOr<ArrayInfo> Client::Put(const Array& array, const PutOptions& options) {
  return core_->Put(array, options, core_->Env(options.timeout));
}

absl::StatusOr<Array> Client::Get(const ArrayRef& reference, const GetOptions& options) {
  return core_->Get(reference, options.progress, core_->Env(options.timeout));
}

absl::StatusOr<ArrayInfo> Client::GetInto(const ArrayRef& reference, absl::Span<std::byte> bytes,
                                          const GetOptions& options) {
  return core_->GetInto(reference, bytes, options.progress, core_->Env(options.timeout));
}

absl::StatusOr<ArrayInfo> Client::Describe(const ArrayRef& reference, const CallOptions& options) {
  v1::DescribeRequest request;
  v1::DescribeResponse response;
  internal::ToProto(reference, request.mutable_array());
  SHOAL_RETURN_IF_ERROR(
      core_->Ask(Method::kDescribe, request, &response, core_->Env(options.timeout)));
  return internal::FromProto(response.array());
}

absl::StatusOr<std::vector<ArrayInfo>> Client::List(const ListOptions& options) {
  const CallEnv env = core_->Env(options.timeout);
  std::vector<ArrayInfo> arrays;
  v1::ListRequest request;
  request.set_name_prefix(options.name_prefix);
  for (;;) {
    v1::ListResponse response;
    SHOAL_RETURN_IF_ERROR(core_->Ask(Method::kList, request, &response, env));
    for (const v1::ArrayInfo& proto : response.arrays()) {
      SHOAL_ASSIGN_OR_RETURN(ArrayInfo info, internal::FromProto(proto));
      arrays.push_back(std::move(info));
    }
    if (response.next_page_token().empty()) return arrays;
    if (response.next_page_token() == request.page_token()) {
      return absl::InternalError("the server sent the same page twice");
    }
    request.set_page_token(response.next_page_token());
  }
}

absl::StatusOr<int64_t> Client::Free(absl::Span<const ArrayRef> references,
                                     const FreeOptions& options) {
  v1::FreeRequest request;
  v1::FreeResponse response;
  for (const ArrayRef& reference : references) {
    internal::ToProto(reference, request.add_arrays());
  }
  request.set_missing_ok(options.missing_ok);
  const CallEnv env = core_->Env(options.timeout);
  // Repeated after a lost answer, it would fail because it had succeeded.
  const absl::Status status = options.missing_ok
                                  ? core_->Ask(Method::kFree, request, &response, env)
                                  : core_->unary().Call(Method::kFree, request, &response, env);
  if (!status.ok()) return status;
  return response.freed_bytes();
}

absl::StatusOr<ArrayInfo> Client::Redistribute(const ArrayRef& reference,
                                               const Distribution& distribution,
                                               const CallOptions& options) {
  v1::RedistributeRequest request;
  v1::RedistributeResponse response;
  internal::ToProto(reference, request.mutable_array());
  internal::ToProto(distribution, request.mutable_distribution());
  SHOAL_RETURN_IF_ERROR(
      core_->Ask(Method::kRedistribute, request, &response, core_->Env(options.timeout)));
  return internal::FromProto(response.array());
}

absl::StatusOr<WorkerList> Client::ListWorkers(const CallOptions& options) {
  v1::ListWorkersResponse response;
  SHOAL_RETURN_IF_ERROR(core_->Ask(Method::kListWorkers, v1::ListWorkersRequest(), &response,
                                   core_->Env(options.timeout)));
  return internal::FromProto(response);
}

absl::StatusOr<ServerInfo> Client::FetchInfo(const CallOptions& options) {
  v1::GetServerInfoResponse response;
  SHOAL_RETURN_IF_ERROR(core_->Ask(Method::kGetServerInfo, v1::GetServerInfoRequest(), &response,
                                   core_->Env(options.timeout)));
  return internal::FromProto(response);
}

absl::StatusOr<ThroughputReport> Client::Throughput(const std::string& op,
                                                    const CallOptions& options) {
  v1::GetThroughputRequest request;
  v1::GetThroughputResponse response;
  request.set_op(op);
  SHOAL_RETURN_IF_ERROR(
      core_->Ask(Method::kGetThroughput, request, &response, core_->Env(options.timeout)));
  return internal::FromProto(response);
}

absl::Status Client::Drain(const CallOptions& options) {
  v1::DrainResponse response;
  return core_->unary().Call(Method::kDrain, v1::DrainRequest(), &response,
                             core_->Env(options.timeout));
}

void Client::EchoAsync(Array payload, EchoOptions options, Callback<Array> done) {
  core_->RunAsync<Array>(
      options.timeout,
      [core = core_.get(), payload = std::move(payload), route = options.route](
          const CallEnv& env) { return core->Echo(payload, nullptr, route, env); },
      std::move(done));
}

void Client::ApplyAsync(Call call, Callback<Result> done) {
  core_->ApplyAsync(std::move(call), std::move(done));
}

void Client::PutAsync(Array array, PutOptions options, Callback<ArrayInfo> done) {
  const auto timeout = options.timeout;
  core_->RunAsync<ArrayInfo>(
      timeout,
      [core = core_.get(), array = std::move(array),
       options = std::move(options)](const CallEnv& env) { return core->Put(array, options, env); },
      std::move(done));
}

void Client::GetAsync(ArrayRef reference, GetOptions options, Callback<Array> done) {
  const auto timeout = options.timeout;
  core_->RunAsync<Array>(
      timeout,
      [core = core_.get(), reference = std::move(reference), options = std::move(options)](
          const CallEnv& env) { return core->Get(reference, options.progress, env); },
      std::move(done));
}

absl::StatusOr<std::unique_ptr<Session>> Client::OpenSession(const SessionOptions& options) {
  SHOAL_RETURN_IF_ERROR(CheckOptions(options));
  SHOAL_ASSIGN_OR_RETURN(internal::SessionCore::Setup setup, core_->SessionSetup(options));
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<internal::SessionCore> core,
                         internal::SessionCore::Open(std::move(setup)));
  return std::make_unique<Session>(std::move(core));
}

}  // namespace shoal
