#include "client/src/client_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/copy.h"
#include "base/status.h"
#include "base/units.h"
#include "client/src/call_codec.h"
#include "client/src/convert.h"
#include "client/src/echo_codec.h"
#include "client/src/host.h"
#include "client/src/transports.h"
#include "shoal/v1/cluster.pb.h"

namespace shoal::internal {
namespace {

// Until the server has named its limit.
constexpr int64_t kMessageBytes = 64 * kMiB;
// What a server that names no limits is taken to have.
constexpr int64_t kInlineBytes = 256 * kKiB;
constexpr int64_t kChunkBytes = kMiB;
constexpr int32_t kCreditChunks = 8;
constexpr int64_t kFirstCredits = 256;
constexpr std::chrono::seconds kArenaRetry(1);

absl::Status CheckOptions(const ClientOptions& options) {
  if (options.chunk_bytes < 1) return absl::InvalidArgumentError("chunk_bytes below 1");
  if (options.in_flight_chunks < 0) return absl::InvalidArgumentError("in_flight_chunks below 0");
  if (options.async_threads < 1) return absl::InvalidArgumentError("async_threads below 1");
  if (options.reuse_bytes < 0) return absl::InvalidArgumentError("reuse_bytes below 0");
  return CheckPolicy(options.retry);
}

/// True: after this error the server may still be at work on the call.
bool MayGoOn(const absl::Status& status) {
  return status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kCancelled ||
         status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kUnknown ||
         status.code() == absl::StatusCode::kInternal;
}

bool WorthAnother(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kAborted ||
         status.code() == absl::StatusCode::kResourceExhausted;
}

/// How the user's options reach a connection over a network: all that concern one pass here.
transport::ChannelOptions ChannelOptionsOf(const ClientOptions& options) {
  return {.target = options.address, .methods = MethodPaths(), .message_bytes_max = kMessageBytes};
}

/// True: what leases could not do, chunks may.
bool ChunksMayDo(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnimplemented || WorthAnother(status);
}

}  // namespace

ClientCore::ClientCore(ClientOptions options)
    : options_(std::move(options)),
      channel_options_(ChannelOptionsOf(options_)),
      pool_(std::make_shared<BufferPool>(options_.reuse_bytes)),
      runner_(std::make_unique<AsyncRunner>(options_.async_threads)) {}

ClientCore::~ClientCore() {
  shutdown_.Begin();
  async_calls_.reset();
  runner_.reset();
}

absl::StatusOr<std::unique_ptr<ClientCore>> ClientCore::Connect(const ClientOptions& options) {
  SHOAL_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<ClientCore> core(new ClientCore(options));
  SHOAL_ASSIGN_OR_RETURN(auto channel, MakeChannel(core->channel_options_));
  core->unary_ = std::make_unique<UnaryChannel>(std::move(channel));
  SHOAL_RETURN_IF_ERROR(core->FetchInfo());
  SHOAL_RETURN_IF_ERROR(core->ChoosePlane());
  core->FinishSetup();
  return core;
}

CallEnv ClientCore::Env(std::optional<std::chrono::nanoseconds> timeout) {
  return {Deadline(timeout.has_value() ? timeout : options_.timeout), &shutdown_, false};
}

absl::Status ClientCore::FetchInfo() {
  const CallEnv env{Deadline(options_.connect_timeout), &shutdown_, false};
  v1::GetServerInfoResponse response;
  const absl::Status asked =
      options_.wait_for_server
          ? unary_->CallWhenReady(Method::kGetServerInfo, v1::GetServerInfoRequest(), &response,
                                  env)
          : unary_->Call(Method::kGetServerInfo, v1::GetServerInfoRequest(), &response, env);
  SHOAL_RETURN_IF_ERROR(asked);
  info_ = FromProto(response);
  for (const OpInfo& op : info_.ops) outputs_[op.name] = op.output;
  ServerLimits& limits = info_.limits;
  if (limits.inline_bytes <= 0) limits.inline_bytes = kInlineBytes;
  if (limits.chunk_bytes <= 0) limits.chunk_bytes = kChunkBytes;
  if (limits.credit_chunks <= 0) limits.credit_chunks = kCreditChunks;
  return absl::OkStatus();
}

absl::Status ClientCore::ChoosePlane() {
  if (options_.plane == Plane::kTcp) return absl::OkStatus();
  const bool demanded = options_.plane != Plane::kAuto;
  const absl::Status on_unix = UseUnixSocket();
  if (!on_unix.ok()) return demanded ? on_unix : absl::OkStatus();
  plane_ = Plane::kUnix;
  if (options_.plane == Plane::kUnix) return absl::OkStatus();
  const absl::Status lends = ConnectArena();
  if (lends.ok()) plane_ = Plane::kMemfd;
  if (lends.ok() || !demanded) return absl::OkStatus();
  return absl::FailedPreconditionError(lends.message());
}

absl::Status ClientCore::UseUnixSocket() {
  if (IsUnixAddress(options_.address)) return absl::OkStatus();
  if (!YieldsToUnixSocket(options_.address)) {
    return absl::FailedPreconditionError("the address says how to go");
  }
  const std::string here = LocalHostId();
  if (here.empty() || here != info_.planes.host_id) {
    return absl::FailedPreconditionError("the server is on another host");
  }
  if (info_.planes.unix_socket.empty()) {
    return absl::FailedPreconditionError("the server has no Unix socket");
  }
  transport::ChannelOptions channel_options = channel_options_;
  channel_options.target = absl::StrCat("unix:", info_.planes.unix_socket);
  channel_options.tls.reset();  // The socket's permissions say who may call.
  SHOAL_ASSIGN_OR_RETURN(auto channel, MakeChannel(channel_options));
  auto unary = std::make_unique<UnaryChannel>(std::move(channel));
  const CallEnv env{Deadline(options_.connect_timeout), &shutdown_, false};
  v1::GetServerInfoResponse response;
  const absl::Status asked =
      unary->Call(Method::kGetServerInfo, v1::GetServerInfoRequest(), &response, env);
  if (!asked.ok() || response.instance_id() != info_.instance_id) {
    return absl::FailedPreconditionError(
        absl::StrCat("the server's Unix socket does not lead to it: ",
                     asked.ok() ? "another answers" : absl::string_view(asked.message())));
  }
  unary_ = std::move(unary);
  channel_options_ = std::move(channel_options);
  return absl::OkStatus();
}

void ClientCore::FinishSetup() {
  const ServerLimits& limits = info_.limits;
  channel_options_.message_bytes_max = std::max(limits.message_bytes, kMessageBytes);
  channels_ = std::make_shared<ChannelPool>(channel_options_);
  const int32_t wished =
      options_.in_flight_chunks > 0 ? options_.in_flight_chunks : limits.credit_chunks;
  async_calls_ = unary_->MakeAsyncCalls();
  transfer_ = {.unary = unary_.get(),
               .channels = channels_.get(),
               .pool = pool_.get(),
               .stream = {.chunk_bytes = std::min(options_.chunk_bytes, limits.chunk_bytes),
                          .credit_chunks = std::min(wished, limits.credit_chunks),
                          .checksum = options_.checksum},
               .retry = options_.retry};
}

absl::Status ClientCore::ConnectArena() {
  if (info_.planes.lease_socket.empty()) {
    return absl::FailedPreconditionError("the server lends no memory");
  }
  arena_tried_ = Deadline::Clock::now();
  SHOAL_ASSIGN_OR_RETURN(arena_, LeaseArena::Connect({.socket_path = info_.planes.lease_socket,
                                                      .lease_bytes_max = info_.limits.lease_bytes,
                                                      .kept_bytes_max = options_.reuse_bytes}));
  return absl::OkStatus();
}

absl::StatusOr<SessionCore::Setup> ClientCore::SessionSetup(const SessionOptions& options) const {
  const ServerLimits& limits = info_.limits;
  // The server's own number comes with its first message; until then no more than any gives.
  const int64_t credits =
      limits.session_tasks > 0 ? std::min(limits.session_tasks, kFirstCredits) : kFirstCredits;
  SHOAL_ASSIGN_OR_RETURN(auto channel, MakeChannel(channel_options_));
  return SessionCore::Setup{std::move(channel), pool_, options, credits,
                            limits.message_bytes > 0 ? limits.message_bytes : limits.inline_bytes};
}

std::shared_ptr<LeaseArena> ClientCore::Arena() {
  if (plane_ != Plane::kMemfd) return nullptr;
  const std::lock_guard lock(arena_mutex_);
  if (arena_ != nullptr && arena_->alive()) return arena_;
  arena_ = nullptr;
  // The server may have been started anew: ask again, but not with every call.
  if (Deadline::Clock::now() - arena_tried_ < kArenaRetry) return nullptr;
  if (!ConnectArena().ok()) return nullptr;
  return arena_;
}

absl::StatusOr<Array> ClientCore::Allocate(Dtype dtype, Shape shape) {
  SHOAL_ASSIGN_OR_RETURN(const int64_t bytes, ByteCount(dtype, shape));
  if (const std::shared_ptr<LeaseArena> arena = Arena(); arena != nullptr) {
    absl::StatusOr<StorageRef> storage = arena->Allocate(bytes);
    if (storage.ok()) {
      return ArrayAccess::Make(dtype, std::move(shape), bytes, *std::move(storage));
    }
  }
  SHOAL_ASSIGN_OR_RETURN(StorageRef storage, pool_->Allocate(bytes));
  return ArrayAccess::Make(dtype, std::move(shape), bytes, std::move(storage));
}

absl::StatusOr<Array> ClientCore::Echo(const Array& payload, const Array* reply, Route route,
                                       const CallEnv& env) {
  if (reply != nullptr && (!reply->writable() || reply->byte_count() != payload.byte_count())) {
    return absl::InvalidArgumentError("the reply's memory is not writable, or of another size");
  }
  if (payload.byte_count() <= info_.limits.inline_bytes) {
    return EchoInline(payload, reply, route, env);
  }
  Call call{.op = "echo", .arguments = {payload}, .route = route};
  if (reply != nullptr) call.destinations.emplace_back(WriteTo{*reply});
  SHOAL_ASSIGN_OR_RETURN(Result result, Apply(call, env));
  if (result.outputs.size() != 1 || result.outputs[0].array.byte_count() != payload.byte_count()) {
    return absl::InternalError("the server answered an echo with something else");
  }
  return std::move(result.outputs[0].array);
}

absl::StatusOr<transport::Message> ClientCore::TryEcho(const Array& payload, Route route,
                                                       const CallEnv& env) {
  const transport::Frame request = EncodeEcho(payload, route);
  for (Retrier retrier(options_.retry, env);;) {
    absl::StatusOr<transport::Message> reply = unary_->Call(Method::kEcho, request, env);
    if (reply.ok() || !retrier.Again(reply.status())) return reply;
  }
}

absl::StatusOr<Array> ClientCore::EchoInline(const Array& payload, const Array* reply, Route route,
                                             const CallEnv& env) {
  SHOAL_ASSIGN_OR_RETURN(const transport::Message message, TryEcho(payload, route, env));
  Array target;
  if (reply != nullptr) {
    target = *reply;
  } else {
    SHOAL_ASSIGN_OR_RETURN(StorageRef storage, pool_->Allocate(payload.byte_count()));
    target = ArrayAccess::Make(payload.dtype(), payload.shape(), payload.byte_count(),
                               std::move(storage));
  }
  SHOAL_RETURN_IF_ERROR(DecodeEcho(message.pieces(), target.mutable_data()));
  return target;
}

absl::StatusOr<Result> ClientCore::Apply(const Call& call, const CallEnv& env) {
  for (Retrier retrier(options_.retry, env);;) {
    bool may_repeat = false;
    absl::StatusOr<Result> result = TryApply(call, env, &may_repeat);
    if (result.ok() || !may_repeat || !retrier.Again(result.status())) return result;
  }
}

absl::StatusOr<Result> ClientCore::TryApply(const Call& call, const CallEnv& env,
                                            bool* may_repeat) {
  const std::shared_ptr<LeaseArena> arena = Arena();
  SHOAL_ASSIGN_OR_RETURN(CallPlan plan, PlanCall(call, {info_.limits, &outputs_, arena.get()}));
  absl::StatusOr<Result> result = RunApply(call, &plan, transfer_, env);
  if (result.ok()) return result;
  const absl::Status& status = result.status();
  if (arena != nullptr && MayGoOn(status)) {
    for (const CallPlan::Target& target : plan.targets) {
      if (target.place != nullptr) arena->Distrust(ArrayAccess::storage(target.landing));
    }
  }
  // A call that stores something is only repeated if the server says that it did nothing.
  *may_repeat =
      !plan.stores || status.code() == absl::StatusCode::kAborted || RetryDelay(status).has_value();
  const bool lost_lease =
      status.code() == absl::StatusCode::kNotFound && arena != nullptr && !arena->alive();
  if (!lost_lease) return result;
  // The server was started anew: what lay in its leases is ordinary memory now.
  SHOAL_ASSIGN_OR_RETURN(plan, PlanCall(call, {info_.limits, &outputs_, nullptr}));
  return RunApply(call, &plan, transfer_, env);
}

absl::StatusOr<ArrayInfo> ClientCore::Put(const Array& array, const PutOptions& options,
                                          const CallEnv& env) {
  const std::shared_ptr<LeaseArena> arena = Arena();
  if (arena != nullptr && array.byte_count() > info_.limits.inline_bytes) {
    absl::StatusOr<ArrayInfo> stored =
        RunLeasedPut(array, options, {&transfer_, {info_.limits, &outputs_, arena.get()}}, env);
    if (stored.ok() || (!ChunksMayDo(stored.status()) && arena->alive())) return stored;
  }
  return RunPut(array, options, transfer_, env);
}

absl::StatusOr<LeasedArrayResult> ClientCore::GetByLease(const ArrayRef& reference,
                                                         const Progress& progress,
                                                         const CallEnv& env) {
  const std::shared_ptr<LeaseArena> arena = Arena();
  if (arena == nullptr) return absl::UnimplementedError("no leases");
  SHOAL_ASSIGN_OR_RETURN(
      LeasedArrayResult result,
      RunLeasedGet(reference, {&transfer_, {info_.limits, &outputs_, arena.get()}}, env));
  if (progress) progress(result.info.bytes, result.info.bytes);
  return result;
}

absl::StatusOr<Array> ClientCore::Get(const ArrayRef& reference, const Progress& progress,
                                      const CallEnv& env) {
  absl::StatusOr<LeasedArrayResult> leased = GetByLease(reference, progress, env);
  if (leased.ok()) return std::move(leased->array);
  if (!ChunksMayDo(leased.status())) return leased.status();
  StorageRef storage;
  const GetCall call{.reference = reference,
                     .progress = progress,
                     .landing = [&](const ArrayInfo& info) -> absl::StatusOr<std::byte*> {
                       SHOAL_ASSIGN_OR_RETURN(storage, pool_->Allocate(info.bytes));
                       return storage->data();
                     }};
  SHOAL_ASSIGN_OR_RETURN(ArrayInfo info, RunGet(call, transfer_, env));
  return ArrayAccess::Make(info.dtype, std::move(info.shape), info.bytes, std::move(storage));
}

absl::StatusOr<ArrayInfo> ClientCore::GetInto(const ArrayRef& reference,
                                              absl::Span<std::byte> bytes, const Progress& progress,
                                              const CallEnv& env) {
  const auto check = [bytes](const ArrayInfo& info) {
    if (static_cast<size_t>(info.bytes) == bytes.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the array has ", info.bytes, " bytes, the memory for it ", bytes.size()));
  };
  // What is small comes with one chunk sooner than by lease.
  const bool small = static_cast<int64_t>(bytes.size()) <= info_.limits.inline_bytes;
  absl::StatusOr<LeasedArrayResult> leased =
      small ? absl::UnimplementedError("small") : GetByLease(reference, progress, env);
  if (leased.ok()) {
    SHOAL_RETURN_IF_ERROR(check(leased->info));
    const int64_t size = leased->array.byte_count();
    CopyBytes(bytes.data(), leased->array.data().data(), size);
    return std::move(leased->info);
  }
  if (!ChunksMayDo(leased.status())) return leased.status();
  const GetCall call{.reference = reference,
                     .progress = progress,
                     .landing = [&](const ArrayInfo& info) -> absl::StatusOr<std::byte*> {
                       SHOAL_RETURN_IF_ERROR(check(info));
                       return bytes.data();
                     }};
  return RunGet(call, transfer_, env);
}

absl::Status ClientCore::Ask(Method method, const google::protobuf::MessageLite& request,
                             google::protobuf::MessageLite* response, const CallEnv& env) const {
  for (Retrier retrier(options_.retry, env);;) {
    absl::Status status = unary_->Call(method, request, response, env);
    if (status.ok() || !retrier.Again(status)) return status;
  }
}

void ClientCore::ApplyAsync(Call call, Callback<Result> done) {
  const std::optional<std::chrono::nanoseconds> timeout = call.timeout;
  // Small calls wait in the transport, not in a thread. A borrowed array is copied on the way.
  absl::StatusOr<CallPlan> plan = PlanCall(call, {info_.limits, &outputs_, nullptr});
  if (!plan.ok() || plan->stream) {
    RunAsync<Result>(
        timeout, [this, call = std::move(call)](const CallEnv& env) { return Apply(call, env); },
        std::move(done));
    return;
  }
  MessageBuilder builder;
  EncodeCall(call, *plan, &builder);
  CallEnv env = Env(timeout);
  env.cancellable = true;
  auto answer = [this, env, call = std::move(call), plan = *std::move(plan),
                 done = std::move(done)](absl::StatusOr<transport::Message> reply) mutable {
    if (reply.ok()) {
      std::move(done)(DecodeUnary(plan, *reply, pool_.get()));
    } else if (!plan.stores && WorthAnother(reply.status())) {
      // From here on as a blocking call, with its waits, in a thread for such.
      RunUnder<Result>(
          env, [this, call = std::move(call)](const CallEnv& same) { return Apply(call, same); },
          std::move(done));
    } else {
      std::move(done)(reply.status());
    }
  };
  async_calls_->Start(IndexOf(Method::kApply), builder.Build(), env.Terms(), std::move(answer));
}

}  // namespace shoal::internal
