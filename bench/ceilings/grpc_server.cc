#include "bench/ceilings/grpc_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/server_callback.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/ceilings/ceiling.grpc.pb.h"
#include "bench/ceilings/grpc_bytes.h"
#include "bench/ceilings/grpc_stream_server.h"
#include "bench/ceilings/protocol.h"
#include "bench/ceilings/slots.h"

namespace shoal::bench {
namespace {

constexpr std::array<std::byte, kAnswerBytes> kAnswer = {std::byte{'o'}, std::byte{'k'}};

using Base = CeilingService::WithRawCallbackMethod_Unary<
    CeilingService::WithRawCallbackMethod_Stream<CeilingService::WithRawCallbackMethod_Messages<
        CeilingService::WithCallbackMethod_Protobuf<CeilingService::Service>>>>;

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

class Service final : public Base {
 public:
  grpc::ServerUnaryReactor* Unary(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* reply) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(CarryOut(*request, reply)));
    return reactor;
  }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Stream(
      grpc::CallbackServerContext* /*context*/) override {
    return NewPayloadStream(&slots_);
  }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Messages(
      grpc::CallbackServerContext* /*context*/) override {
    return NewMessageStream();
  }

  grpc::ServerUnaryReactor* Protobuf(grpc::CallbackServerContext* context,
                                     const CeilingMessage* request,
                                     CeilingMessage* reply) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(CarryOut(*request, reply)));
    return reactor;
  }

 private:
  absl::Status CarryOut(const grpc::ByteBuffer& request, grpc::ByteBuffer* reply) {
    MessageReader reader(request);
    std::array<std::byte, kCallHeaderBytes> bytes;
    if (!reader.Read(absl::MakeSpan(bytes))) return absl::InvalidArgumentError("no header");
    SHOAL_ASSIGN_OR_RETURN(const CallHeader header, DecodeHeader(bytes));
    if (header.verb == Verb::kReset) slots_.Reset();
    if (header.verb == Verb::kReflect) {
      *reply = reader.Rest({});
      return absl::OkStatus();
    }
    const bool get = header.verb == Verb::kGet;
    const int64_t slot_bytes = get ? header.reply_bytes : header.request_bytes;
    SHOAL_ASSIGN_OR_RETURN(const Bytes slot, slots_.Get(header.slot, slot_bytes));
    if (!get && !reader.Read(slot)) return absl::InvalidArgumentError("payload too short");
    const bool answer = header.verb == Verb::kPut || header.verb == Verb::kReset;
    const ConstBytes returned =
        answer ? ConstBytes(kAnswer) : slot.first(static_cast<size_t>(header.reply_bytes));
    *reply = MessageOf({}, {returned});
    return absl::OkStatus();
  }

  absl::Status CarryOut(const CeilingMessage& request, CeilingMessage* reply) {
    const auto verb = static_cast<Verb>(request.verb());
    const std::string& data = request.data();
    if (verb == Verb::kReset) slots_.Reset();
    if (verb == Verb::kReflect) reply->set_data(data);
    if (verb == Verb::kReset || verb == Verb::kReflect) return absl::OkStatus();
    const bool get = verb == Verb::kGet;
    const int64_t slot_bytes = get ? request.reply_bytes() : static_cast<int64_t>(data.size());
    SHOAL_ASSIGN_OR_RETURN(const Bytes slot, slots_.Get(request.slot(), slot_bytes));
    if (!get && !data.empty()) std::memcpy(slot.data(), data.data(), data.size());
    const auto returned = static_cast<size_t>(request.reply_bytes());
    if (returned > slot.size()) return absl::InvalidArgumentError("more to return than was sent");
    if (verb != Verb::kPut) reply->set_data(slot.data(), returned);
    return absl::OkStatus();
  }

  Slots slots_;
};

}  // namespace

absl::Status ServeGrpc(const std::string& plane,
                       const std::function<void(const std::string&)>& announce) {
  Service service;
  grpc::ServerBuilder builder;
  const std::string name = absl::StrCat("unix-abstract:shoal-bench-", getpid());
  const bool tcp = plane == "tcp";
  int port = 0;
  builder.AddListeningPort(tcp ? "127.0.0.1:0" : name, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument("grpc.http2.max_frame_size", kHttp2FrameBytes);
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return absl::UnavailableError("the gRPC server could not listen");
  announce(tcp ? absl::StrCat("127.0.0.1:", port) : name);
  server->Wait();
  return absl::OkStatus();
}

}  // namespace shoal::bench
