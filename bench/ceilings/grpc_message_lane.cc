#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <deque>
#include <utility>
#include <vector>

#include "base/status.h"
#include "bench/ceilings/grpc_bytes.h"
#include "bench/ceilings/grpc_lanes.h"

namespace shoal::bench {
namespace {

constexpr char kMethod[] = "/shoal.bench.CeilingService/Messages";

class MessageLane final : public Lane {
 public:
  explicit MessageLane(const std::string& address) : stub_(NewCeilingChannel(address)) {}

  ~MessageLane() override {
    if (stream_ != nullptr) context_.TryCancel();
    queue_.Shutdown();
    void* event = nullptr;
    bool ok = false;
    while (queue_.Next(&event, &ok)) continue;
  }

  absl::Status Start(const Call& call, int64_t tag) override {
    if (call.op != Op::kEcho) return absl::UnimplementedError("messages are only echoed");
    if (stream_ == nullptr) SHOAL_RETURN_IF_ERROR(Open());
    awaited_.push_back({call.reply(), tag});
    const Bytes request = call.arguments.front()->bytes();
    unsent_.emplace_back(request.data(), request.size());
    WriteOn();
    return absl::OkStatus();
  }

  absl::Status Await(std::vector<int64_t>* ended) override {
    const size_t before = ended->size();
    while (ended->size() == before) {
      void* event = nullptr;
      bool ok = false;
      if (!queue_.Next(&event, &ok)) return absl::FailedPreconditionError("nothing is in flight");
      if (!ok) return absl::UnavailableError("the message stream broke");
      if (event == &write_event_) {
        writing_ = false;
        WriteOn();
        continue;
      }
      SHOAL_RETURN_IF_ERROR(TakeReply(ended));
    }
    return absl::OkStatus();
  }

 private:
  struct Awaited {
    Bytes reply;
    int64_t tag = 0;
  };

  absl::Status Open() {
    stream_ = stub_.PrepareCall(&context_, kMethod, &queue_);
    stream_->StartCall(&start_event_);
    void* event = nullptr;
    bool ok = false;
    if (!queue_.Next(&event, &ok) || !ok) return absl::UnavailableError("no stream opened");
    stream_->Read(&incoming_, &read_event_);
    return absl::OkStatus();
  }

  void WriteOn() {
    if (writing_ || unsent_.empty()) return;
    writing_ = true;
    const grpc::ByteBuffer message(&unsent_.front(), 1);
    stream_->Write(message, &write_event_);
    unsent_.pop_front();
  }

  absl::Status TakeReply(std::vector<int64_t>* ended) {
    if (awaited_.empty()) return absl::DataLossError("a reply to nothing");
    MessageReader reader(incoming_);
    const Awaited awaited = awaited_.front();
    awaited_.pop_front();
    if (reader.left() != static_cast<int64_t>(awaited.reply.size()) ||
        !reader.Read(awaited.reply)) {
      return absl::DataLossError("a reply of another size");
    }
    ended->push_back(awaited.tag);
    stream_->Read(&incoming_, &read_event_);
    return absl::OkStatus();
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer incoming_;
  std::deque<grpc::Slice> unsent_;
  std::deque<Awaited> awaited_;  ///< In the order in which replies come.
  char start_event_ = 0;
  char write_event_ = 0;
  char read_event_ = 0;
  bool writing_ = false;
};

}  // namespace

std::unique_ptr<Lane> NewMessageLane(const std::string& address) {
  return std::make_unique<MessageLane>(address);
}

}  // namespace shoal::bench
