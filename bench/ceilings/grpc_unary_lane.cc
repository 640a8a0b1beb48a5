#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bench/ceilings/ceiling.pb.h"
#include "bench/ceilings/grpc_bytes.h"
#include "bench/ceilings/grpc_lanes.h"
#include "bench/ceilings/protocol.h"

namespace shoal::bench {
namespace {

constexpr char kUnaryMethod[] = "/shoal.bench.CeilingService/Unary";
constexpr char kProtobufMethod[] = "/shoal.bench.CeilingService/Protobuf";

// How the two kinds of message are filled and emptied.
struct RawCodec {
  using Message = grpc::ByteBuffer;
  static constexpr const char* kMethod = kUnaryMethod;

  static Message Encode(const Call& call) {
    return MessageOf(EncodeHeader(HeaderOf(call)), call.request());
  }
  static absl::Status Decode(const Message& message, const Call& call) {
    if (call.op == Op::kPut) return absl::OkStatus();
    MessageReader reader(message);
    const bool fits = reader.left() == call.reply_bytes();
    if (fits && reader.Read(call.reply())) return absl::OkStatus();
    return absl::DataLossError("a reply of another size");
  }
};

struct ProtobufCodec {
  using Message = CeilingMessage;
  static constexpr const char* kMethod = kProtobufMethod;

  static Message Encode(const Call& call) {
    const CallHeader header = HeaderOf(call);
    CeilingMessage message;
    message.set_verb(static_cast<int32_t>(header.verb));
    message.set_slot(header.slot);
    message.set_reply_bytes(header.reply_bytes);
    // Reserved in one go, as generated code does with the one array that a caller has.
    std::string* data = message.mutable_data();
    data->reserve(static_cast<size_t>(header.request_bytes));
    for (const ConstBytes piece : call.request()) {
      data->append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    return message;
  }
  static absl::Status Decode(const Message& message, const Call& call) {
    if (call.op == Op::kPut) return absl::OkStatus();
    const Bytes reply = call.reply();
    if (message.data().size() != reply.size()) {
      return absl::DataLossError("a reply of another size");
    }
    if (!reply.empty()) std::memcpy(reply.data(), message.data().data(), reply.size());
    return absl::OkStatus();
  }
};

template <typename Codec>
class UnaryLane final : public Lane {
 public:
  explicit UnaryLane(const std::string& address) : stub_(NewCeilingChannel(address)) {}

  ~UnaryLane() override {
    queue_.Shutdown();
    void* event = nullptr;
    bool ok = false;
    while (queue_.Next(&event, &ok)) delete static_cast<Pending*>(event);
  }

  absl::Status Start(const Call& call, int64_t tag) override {
    auto* pending = new Pending{.call = call, .tag = tag};
    pending->reader =
        stub_.PrepareUnaryCall(&pending->context, Codec::kMethod, Codec::Encode(call), &queue_);
    pending->reader->StartCall();
    pending->reader->Finish(&pending->reply, &pending->status, pending);
    return absl::OkStatus();
  }

  absl::Status Await(std::vector<int64_t>* ended) override {
    void* event = nullptr;
    bool ok = false;
    if (!queue_.Next(&event, &ok)) return absl::FailedPreconditionError("nothing is in flight");
    const std::unique_ptr<Pending> pending(static_cast<Pending*>(event));
    if (!pending->status.ok()) return FromGrpc(pending->status);
    SHOAL_RETURN_IF_ERROR(Codec::Decode(pending->reply, pending->call));
    ended->push_back(pending->tag);
    return absl::OkStatus();
  }

 private:
  using Message = typename Codec::Message;
  struct Pending {
    Call call;
    int64_t tag = 0;
    grpc::ClientContext context = {};  // Outlives the reader, which lies in its arena.
    std::unique_ptr<grpc::ClientAsyncResponseReader<Message>> reader = nullptr;
    Message reply = {};
    grpc::Status status = {};
  };

  grpc::TemplatedGenericStub<Message, Message> stub_;
  grpc::CompletionQueue queue_;
};

}  // namespace

std::unique_ptr<Lane> NewUnaryLane(const std::string& address) {
  return std::make_unique<UnaryLane<RawCodec>>(address);
}

std::unique_ptr<Lane> NewProtobufLane(const std::string& address) {
  return std::make_unique<UnaryLane<ProtobufCodec>>(address);
}

absl::Status ResetGrpcServer(const std::string& address) {
  grpc::GenericStub stub(NewCeilingChannel(address));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::ByteBuffer reply;
  grpc::Status status;
  const auto reader = stub.PrepareUnaryCall(
      &context, kUnaryMethod, MessageOf(EncodeHeader({Verb::kReset, 0, 0, 0}), {}), &queue);
  reader->StartCall();
  reader->Finish(&reply, &status, nullptr);
  void* event = nullptr;
  bool ok = false;
  queue.Next(&event, &ok);
  queue.Shutdown();
  while (queue.Next(&event, &ok)) continue;
  return FromGrpc(status);
}

}  // namespace shoal::bench
