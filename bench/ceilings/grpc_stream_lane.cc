#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bench/ceilings/grpc_bytes.h"
#include "bench/ceilings/grpc_lanes.h"
#include "bench/ceilings/protocol.h"

namespace shoal::bench {
namespace {

constexpr char kMethod[] = "/shoal.bench.CeilingService/Stream";
constexpr std::array<std::byte, kChunkHeaderBytes> kChunkHeader = {};

class PayloadCall {
 public:
  PayloadCall(const Call& call, int64_t tag) : call_(call), tag_(tag) {}

  int64_t tag() const { return tag_; }

  void Start(grpc::GenericStub* stub, grpc::CompletionQueue* queue) {
    context_.set_initial_metadata_corked(true);  // The headers travel with the first chunk.
    stream_ = stub->PrepareCall(&context_, kMethod, queue);
    stream_->StartCall(nullptr);
    WriteNext();
    ReadNext();
  }

  // Takes one event of the queue. True: the call is over.
  bool Handle(void* event, bool ok) {
    --outstanding_;
    if (event == &write_event_ && ok && written_ < request_bytes()) WriteNext();
    if (event == &read_event_) HandleRead(ok);
    if (event == &finish_event_) finished_ = true;
    return finished_ && outstanding_ == 0;
  }

  absl::Status Result() const {
    if (!status_.ok()) return FromGrpc(status_);
    return fault_;
  }

  // An event is the address of one of these; its owner says which call it belongs to.
  struct Event {
    PayloadCall* call = nullptr;
  };

 private:
  int64_t request_bytes() const { return call_.request_bytes(); }
  int64_t wanted_bytes() const { return call_.op == Op::kPut ? kAnswerBytes : call_.reply_bytes(); }

  void WriteNext() {
    const int64_t count = std::min(request_bytes() - written_, kChunkBytes);
    const wire::Pieces chunk = wire::SubPieces(call_.request(), written_, count);
    const grpc::ByteBuffer message =
        started_ ? MessageOf(kChunkHeader, chunk) : MessageOf(EncodeHeader(HeaderOf(call_)), chunk);
    started_ = true;
    written_ += count;
    ++outstanding_;
    const bool last = written_ == request_bytes();
    if (last) return stream_->WriteLast(message, grpc::WriteOptions(), &write_event_);
    stream_->Write(message, &write_event_);
  }

  void ReadNext() {
    ++outstanding_;
    stream_->Read(&incoming_, &read_event_);
  }

  void HandleRead(bool ok) {
    if (ok) fault_ = TakeMessage();
    if (!fault_.ok()) context_.TryCancel();  // Nobody reads what is still on its way.
    if (ok && fault_.ok() && received_ < wanted_bytes()) return ReadNext();
    ++outstanding_;
    stream_->Finish(&status_, &finish_event_);
  }

  absl::Status TakeMessage() {
    MessageReader reader(incoming_);
    std::array<std::byte, kChunkHeaderBytes> head;
    if (call_.op == Op::kPut) {
      received_ += reader.left();
      return absl::OkStatus();
    }
    if (!reader.Read(absl::MakeSpan(head))) return absl::DataLossError("a reply without header");
    const int64_t count = reader.left();
    if (count > wanted_bytes() - received_) return absl::DataLossError("a reply that is too long");
    reader.Read(call_.reply().subspan(static_cast<size_t>(received_), static_cast<size_t>(count)));
    received_ += count;
    return absl::OkStatus();
  }

  const Call call_;
  const int64_t tag_;
  grpc::ClientContext context_;  // Outlives the stream, which lies in its arena.
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  Event write_event_{this};
  Event read_event_{this};
  Event finish_event_{this};
  grpc::ByteBuffer incoming_;
  grpc::Status status_;
  absl::Status fault_;
  int64_t written_ = 0;
  int64_t received_ = 0;
  int outstanding_ = 0;
  bool started_ = false;
  bool finished_ = false;
};

class StreamLane final : public Lane {
 public:
  explicit StreamLane(const std::string& address) : stub_(NewCeilingChannel(address)) {}

  ~StreamLane() override {
    queue_.Shutdown();
    void* event = nullptr;
    bool ok = false;
    while (queue_.Next(&event, &ok)) HandleEvent(event, ok, nullptr).IgnoreError();
  }

  absl::Status Start(const Call& call, int64_t tag) override {
    auto* started = new PayloadCall(call, tag);  // Deleted with its last event.
    started->Start(&stub_, &queue_);
    return absl::OkStatus();
  }

  absl::Status Await(std::vector<int64_t>* ended) override {
    const size_t before = ended->size();
    while (ended->size() == before) {
      void* event = nullptr;
      bool ok = false;
      if (!queue_.Next(&event, &ok)) return absl::FailedPreconditionError("nothing is in flight");
      SHOAL_RETURN_IF_ERROR(HandleEvent(event, ok, ended));
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status HandleEvent(void* event, bool ok, std::vector<int64_t>* ended) {
    PayloadCall* call = static_cast<PayloadCall::Event*>(event)->call;
    if (!call->Handle(event, ok)) return absl::OkStatus();
    const std::unique_ptr<PayloadCall> over(call);
    if (ended != nullptr) ended->push_back(call->tag());
    return call->Result();
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
};

}  // namespace

std::unique_ptr<Lane> NewStreamLane(const std::string& address) {
  return std::make_unique<StreamLane>(address);
}

}  // namespace shoal::bench
