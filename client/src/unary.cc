#include "client/src/unary.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/client_context.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <utility>

#include "base/status.h"
#include "client/src/grpc_status.h"

namespace shoal::internal {
namespace {

constexpr std::array<const char*, kMethodCount> kPaths = {
    "/shoal.v1.ComputeService/Echo",
    "/shoal.v1.ComputeService/Apply",
    "/shoal.v1.ArrayService/Describe",
    "/shoal.v1.ArrayService/List",
    "/shoal.v1.ArrayService/Free",
    "/shoal.v1.ArrayService/Redistribute",
    "/shoal.v1.ClusterService/GetServerInfo",
    "/shoal.v1.ClusterService/GetThroughput",
    "/shoal.v1.ClusterService/ListWorkers",
    "/shoal.v1.ClusterService/Drain",
};

template <size_t... I>
std::array<grpc::internal::RpcMethod, kMethodCount> RegisterAll(
    const std::shared_ptr<grpc::Channel>& channel, std::index_sequence<I...> /*indices*/) {
  return {grpc::internal::RpcMethod(kPaths[I], grpc::internal::RpcMethod::NORMAL_RPC, channel)...};
}

}  // namespace

const char* MethodPath(Method method) { return kPaths[static_cast<size_t>(method)]; }

UnaryChannel::UnaryChannel(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)),
      methods_(RegisterAll(channel_, std::make_index_sequence<kMethodCount>())) {}

absl::StatusOr<grpc::ByteBuffer> UnaryChannel::Call(Method method, const grpc::ByteBuffer& request,
                                                    const CallEnv& env) const {
  return Run(method, request, env, {.wait_for_ready = false});
}

absl::Status UnaryChannel::Call(Method method, const google::protobuf::MessageLite& request,
                                google::protobuf::MessageLite* response, const CallEnv& env) const {
  SHOAL_ASSIGN_OR_RETURN(grpc::ByteBuffer reply, Call(method, ToBuffer(request), env));
  return FromBuffer(&reply, response);
}

absl::Status UnaryChannel::CallWhenReady(Method method,
                                         const google::protobuf::MessageLite& request,
                                         google::protobuf::MessageLite* response,
                                         const CallEnv& env) const {
  SHOAL_ASSIGN_OR_RETURN(grpc::ByteBuffer reply,
                         Run(method, ToBuffer(request), env, {.wait_for_ready = true}));
  return FromBuffer(&reply, response);
}

absl::StatusOr<grpc::ByteBuffer> UnaryChannel::Run(Method method, const grpc::ByteBuffer& request,
                                                   const CallEnv& env, Mode mode) const {
  SHOAL_RETURN_IF_ERROR(env.deadline.Check());
  grpc::ClientContext context;
  env.deadline.ApplyTo(&context);
  if (mode.wait_for_ready) context.set_wait_for_ready(true);
  const Shutdown::Registration registration(env.cancellable ? env.shutdown : nullptr, &context);
  grpc::ByteBuffer reply;
  // What generated stubs call: it waits on a queue of its own in this thread.
  const grpc::Status status = grpc::internal::BlockingUnaryCall(
      channel_.get(), methods_[static_cast<size_t>(method)], &context, request, &reply);
  if (!status.ok()) return FromGrpc(status);
  return reply;
}

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

absl::Status FromBuffer(grpc::ByteBuffer* buffer, google::protobuf::MessageLite* message) {
  message->Clear();
  if (buffer->Length() == 0) return absl::OkStatus();
  grpc::ProtoBufferReader reader(buffer);
  if (!message->ParseFromZeroCopyStream(&reader)) {
    return absl::InternalError("the server sent a malformed message");
  }
  return absl::OkStatus();
}

}  // namespace shoal::internal
