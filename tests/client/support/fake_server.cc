#include "tests/client/support/fake_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <cstring>
#include <functional>
#include <utility>

#include "base/check.h"
#include "tests/client/support/fake_call.h"

namespace shoal::testing {
namespace {

/// A call with one message each way.
class UnaryCall final : public FakeCall {
 public:
  using Handler = std::function<grpc::Status(const std::string&, std::string*)>;
  explicit UnaryCall(Handler handler) : handler_(std::move(handler)) { Begin(); }

 private:
  void OnMessage(const std::string& bytes) override { request_ = bytes; }
  void OnHalfClose() override {
    std::string reply;
    const grpc::Status status = handler_(request_, &reply);
    // Any message that parses from these bytes will do to carry them.
    v1::DumpRequest raw;
    SHOAL_CHECK(raw.ParseFromString(reply));
    if (status.ok()) Reply(raw);
    End(status);
  }

  const Handler handler_;
  std::string request_;
};

std::vector<float> Floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

grpc::Status Invalid(const std::string& why) { return {grpc::StatusCode::INVALID_ARGUMENT, why}; }

}  // namespace

grpc::Status WithDetail(grpc::StatusCode code, const std::string& type,
                        const google::protobuf::MessageLite& detail) {
  v1::RpcStatus status;
  status.set_code(code);
  status.set_message("with detail");
  auto* any = status.add_details();
  any->set_type_url("type.googleapis.com/google.rpc." + type);
  any->set_value(detail.SerializeAsString());
  return {code, "with detail", status.SerializeAsString()};
}

FakeServer::FakeServer(FakeServerOptions options) : options_(std::move(options)) {
  if (!options_.lease_socket.empty()) {
    leases_ = std::make_unique<FakeLeases>(options_.lease_socket, options_.lease_bytes);
  }
  grpc::ServerBuilder builder;
  builder.AddListeningPort(options_.address, grpc::InsecureServerCredentials(), &port_);
  if (!options_.unix_socket.empty()) {
    builder.AddListeningPort("unix:" + options_.unix_socket, grpc::InsecureServerCredentials());
  }
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterCallbackGenericService(this);
  server_ = builder.BuildAndStart();
  SHOAL_CHECK(server_ != nullptr);
}

FakeServer::~FakeServer() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

std::string FakeServer::address() const { return "127.0.0.1:" + std::to_string(port_); }

grpc::ServerGenericBidiReactor* FakeServer::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const std::string method = context->method().substr(context->method().rfind('/') + 1);
  {
    const std::lock_guard lock(mutex_);
    ++seen_.calls[method];
  }
  if (FakeCall* stream = NewStream(method, this)) return stream;
  return new UnaryCall([this, method](const std::string& request, std::string* reply) {
    const grpc::Status failure = TakeFailure(method);
    return failure.ok() ? Unary(method, request, reply) : failure;
  });
}

grpc::Status FakeServer::TakeFailure(const std::string& method) {
  const std::lock_guard lock(mutex_);
  auto& failures = faults_.failures[method];
  if (failures.empty()) return grpc::Status::OK;
  grpc::Status failure = failures.front();
  failures.pop_front();
  return failure;
}

FakeServer::Stored* FakeServer::Find(const v1::ArrayRef& reference) {
  if (reference.has_id()) {
    const auto it = arrays_.find(reference.id());
    return it == arrays_.end() ? nullptr : &it->second;
  }
  for (auto& [id, stored] : arrays_) {
    if (stored.info.name() == reference.name()) return &stored;
  }
  return nullptr;
}

uint64_t FakeServer::NewArray(const v1::ArraySpec& spec, const v1::Store& store) {
  const uint64_t id = next_id_++;
  Stored& stored = arrays_[id];
  stored.info.set_id(id);
  stored.info.set_name(store.name());
  *stored.info.mutable_spec() = spec;
  *stored.info.mutable_distribution() = store.distribution();
  stored.info.set_bytes(SpecBytes(spec));
  return id;
}

void FakeServer::FillInfo(v1::GetServerInfoResponse* response) const {
  response->set_version("0.1.0");
  response->set_instance_id("fake-" + std::to_string(port_));
  response->set_backend("cpu");
  response->set_worker_count(2);
  v1::ServerLimits* limits = response->mutable_limits();
  limits->set_inline_bytes(256 * 1024);
  limits->set_chunk_bytes(options_.chunk_bytes);
  limits->set_message_bytes(8 * 1024 * 1024);
  limits->set_credit_chunks(options_.credit_chunks);
  limits->set_session_tasks(options_.session_credits);
  limits->set_lease_bytes(options_.lease_bytes);
  limits->set_arguments(16);
  response->mutable_planes()->set_unix_socket(options_.unix_socket);
  response->mutable_planes()->set_lease_socket(options_.lease_socket);
  response->mutable_planes()->set_host_id(options_.host_id);
  constexpr std::pair<const char*, v1::OpOutput> kOps[] = {{"add", v1::OP_OUTPUT_LIKE_ARGUMENTS},
                                                           {"echo", v1::OP_OUTPUT_EACH_ARGUMENT},
                                                           {"sum", v1::OP_OUTPUT_SCALAR}};
  for (const auto& [name, output] : kOps) {
    v1::OpInfo* op = response->add_ops();
    op->set_name(name);
    op->add_dtypes(v1::DTYPE_FLOAT32);
    op->set_output(output);
  }
}

grpc::Status FakeServer::Argument(const v1::Argument& argument, const std::string* payload,
                                  Named* array) {
  const std::lock_guard lock(mutex_);
  if (argument.has_inline_()) {
    ++seen_.inline_arguments;
    *array = {argument.inline_().spec(), argument.inline_().data()};
  } else if (argument.has_streamed()) {
    ++seen_.streamed_arguments;
    *array = {argument.streamed(), payload != nullptr ? *payload : std::string()};
  } else if (argument.has_ref()) {
    const Stored* stored = Find(argument.ref());
    if (stored == nullptr) return {grpc::StatusCode::NOT_FOUND, "no such array"};
    *array = {stored->info.spec(), stored->bytes};
  } else {
    ++seen_.leased_arguments;
    const v1::LeaseRef& place = argument.leased().location();
    const int64_t bytes = SpecBytes(argument.leased().spec());
    const std::byte* data =
        leases_ == nullptr
            ? nullptr
            : leases_->Find(place.lease_id(), place.lease_token(), place.offset(), bytes);
    if (data == nullptr) return {grpc::StatusCode::NOT_FOUND, "no such lease"};
    *array = {argument.leased().spec(),
              std::string(reinterpret_cast<const char*>(data), static_cast<size_t>(bytes))};
  }
  if (static_cast<int64_t>(array->bytes.size()) != SpecBytes(array->spec)) {
    return Invalid("bytes do not fit the spec");
  }
  return grpc::Status::OK;
}

grpc::Status FakeServer::Deliver(const v1::Destination& place, Named array, v1::Output* output) {
  const std::lock_guard lock(mutex_);
  *output->mutable_spec() = array.spec;
  if (place.has_store()) {
    const uint64_t id = NewArray(array.spec, place.store());
    Stored& stored = arrays_[id];
    stored.bytes = std::move(array.bytes);
    stored.info.set_complete(true);
    output->set_array_id(id);
  } else if (place.has_leased()) {
    std::byte* data =
        leases_ == nullptr
            ? nullptr
            : leases_->Find(place.leased().lease_id(), place.leased().lease_token(),
                            place.leased().offset(), static_cast<int64_t>(array.bytes.size()));
    if (data == nullptr) return {grpc::StatusCode::NOT_FOUND, "no such lease"};
    std::memcpy(data, array.bytes.data(), array.bytes.size());
    *output->mutable_leased() = place.leased();
  } else {
    output->set_data(std::move(array.bytes));
  }
  return grpc::Status::OK;
}

grpc::Status FakeServer::Apply(const v1::ApplyRequest& request,
                               const std::map<int, std::string>& payloads,
                               v1::ApplyResponse* response) {
  std::vector<Named> arguments(static_cast<size_t>(request.arguments_size()));
  for (int i = 0; i < request.arguments_size(); ++i) {
    const auto payload = payloads.find(i);
    const grpc::Status taken =
        Argument(request.arguments(i), payload == payloads.end() ? nullptr : &payload->second,
                 &arguments[static_cast<size_t>(i)]);
    if (!taken.ok()) return taken;
  }
  std::vector<Named> outputs;
  if (request.op() == "echo") {
    outputs = std::move(arguments);
  } else if (request.op() == "add" && arguments.size() == 2) {
    std::vector<float> sum = Floats(arguments[0].bytes);
    const std::vector<float> other = Floats(arguments[1].bytes);
    if (sum.size() != other.size()) return Invalid("shapes differ");
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    outputs.push_back({arguments[0].spec, Bytes(sum)});
  } else if (request.op() == "sum" && arguments.size() == 1) {
    float sum = 0;
    for (const float value : Floats(arguments[0].bytes)) sum += value;
    v1::ArraySpec scalar;
    scalar.set_dtype(v1::DTYPE_FLOAT32);
    outputs.push_back({scalar, Bytes({sum})});
  } else {
    return {grpc::StatusCode::UNIMPLEMENTED, "no such op"};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto at = static_cast<int>(i);
    const v1::Destination place =
        at < request.destinations_size() ? request.destinations(at) : v1::Destination();
    const grpc::Status delivered = Deliver(place, std::move(outputs[i]), response->add_outputs());
    if (!delivered.ok()) return delivered;
  }
  response->set_backend("cpu");
  response->set_worker_count(2);
  if (request.want_timing()) response->mutable_timing()->set_compute_ns(7);
  return grpc::Status::OK;
}

grpc::Status FakeServer::Catalogue(const std::string& method, const std::string& request,
                                   std::string* reply) {
  const std::lock_guard lock(mutex_);
  if (method == "Describe") {
    v1::DescribeRequest describe;
    if (!describe.ParseFromString(request)) return Invalid("not a request");
    const Stored* stored = Find(describe.array());
    if (stored == nullptr) return {grpc::StatusCode::NOT_FOUND, "no such array"};
    v1::DescribeResponse response;
    *response.mutable_array() = stored->info;
    *reply = response.SerializeAsString();
  } else if (method == "List") {
    v1::ListRequest list;
    if (!list.ParseFromString(request)) return Invalid("not a request");
    // Pages of two, so that every test of it turns a page.
    v1::ListResponse response;
    uint64_t after = list.page_token().empty() ? 0 : std::stoull(list.page_token());
    for (const auto& [id, stored] : arrays_) {
      if (id <= after || stored.info.name().rfind(list.name_prefix(), 0) != 0) continue;
      if (response.arrays_size() == 2) {
        response.set_next_page_token(std::to_string(after));
        break;
      }
      *response.add_arrays() = stored.info;
      after = id;
    }
    *reply = response.SerializeAsString();
  } else if (method == "Free") {
    v1::FreeRequest free;
    if (!free.ParseFromString(request)) return Invalid("not a request");
    v1::FreeResponse response;
    for (const auto& reference : free.arrays()) {
      const Stored* stored = Find(reference);
      if (stored == nullptr && free.missing_ok()) continue;
      if (stored == nullptr) return {grpc::StatusCode::NOT_FOUND, "no such array"};
      response.set_freed_bytes(response.freed_bytes() + stored->info.bytes());
      arrays_.erase(stored->info.id());
    }
    *reply = response.SerializeAsString();
  }
  return grpc::Status::OK;
}

grpc::Status FakeServer::Unary(const std::string& method, const std::string& request,
                               std::string* reply) {
  if (method == "GetServerInfo") {
    v1::GetServerInfoResponse response;
    FillInfo(&response);
    *reply = response.SerializeAsString();
  } else if (method == "Echo") {
    v1::EchoRequest echo;
    if (!echo.ParseFromString(request)) return Invalid("not an echo");
    v1::EchoResponse response;
    response.set_payload(echo.payload());
    *reply = response.SerializeAsString();
  } else if (method == "Apply") {
    v1::ApplyRequest call;
    if (!call.ParseFromString(request)) return Invalid("not a call");
    v1::ApplyResponse response;
    const grpc::Status status = Apply(call, {}, &response);
    if (!status.ok()) return status;
    int64_t bytes = 0;
    for (const auto& output : response.outputs())
      bytes += static_cast<int64_t>(output.data().size());
    if (bytes > With([](Faults& faults, Seen&) { return faults.inline_bytes; })) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "outputs above inline_bytes: use ApplyStream"};
    }
    *reply = response.SerializeAsString();
  } else if (method == "Describe" || method == "List" || method == "Free") {
    return Catalogue(method, request, reply);
  } else if (method == "ListWorkers") {
    v1::ListWorkersResponse response;
    response.add_workers()->set_state(v1::WorkerInfo::STATE_READY);
    *reply = response.SerializeAsString();
  } else if (method != "Drain" && method != "GetThroughput") {
    return {grpc::StatusCode::UNIMPLEMENTED, method};
  }
  return grpc::Status::OK;
}

}  // namespace shoal::testing
