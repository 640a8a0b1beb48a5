#include "server/transport/grpc/stream_call.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/hand_over.h"
#include "server/transport/grpc/status_mapping.h"
#include "server/transport/grpc/unary_call.h"
#include "transport/grpc/byte_buffer.h"

namespace shoal::transport {
namespace {

class GrpcStreamCall final : public StreamCall,
                             public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  GrpcStreamCall(grpc::CallbackServerContext* context, CallCount* calls)
      : context_(context), calls_(calls), side_(calls->Enter()) {}

  void Start(const StreamHandlerFactory& factory) {
    handler_ = factory(this);
    for (HandOver* order : {&reads_, &writes_, &cancels_}) order->Give();
    handler_->OnStart();
    for (HandOver* order : {&reads_, &writes_, &cancels_}) order->Give();
  }

  std::optional<Duration> TimeLeft() const override { return TimeLeftOf(*context_); }
  std::string Peer() const override { return context_->peer(); }
  bool IsCancelled() const override { return context_->IsCancelled(); }
  void Finish(const absl::Status& status) override {
    finishes_.Give();
    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>::Finish(ToGrpcStatus(status));
  }

  void Read() override {
    reads_.Give();
    StartRead(&incoming_);
  }
  void Write(Frame frame) override {
    outgoing_ = ToByteBuffer(frame, nullptr);
    writes_.Give();
    const OverlookReads of_the_buffer;
    StartWrite(&outgoing_);
  }
  void WriteAndFinish(Frame frame) override {
    outgoing_ = ToByteBuffer(frame, nullptr);
    finishes_.Give();
    const OverlookReads of_the_buffer;
    StartWriteAndFinish(&outgoing_, grpc::WriteOptions(), grpc::Status::OK);
  }

 private:
  void OnReadDone(bool ok) override {
    const HandOver::Turn turn(&reads_);
    if (!ok) return handler_->OnHalfClose();
    Message message = ToMessage(incoming_);
    incoming_.Clear();  // The message holds the slices now.
    handler_->OnMessage(std::move(message));
  }
  void OnWriteDone(bool ok) override {
    const HandOver::Turn turn(&writes_);
    outgoing_.Clear();  // Drops the payloads' owners; what is still on its way holds its own.
    handler_->OnWritten(ok);
  }
  void OnCancel() override {
    const HandOver::Turn turn(&cancels_);
    handler_->OnCancelled();
  }
  void OnDone() override {
    for (HandOver* order : {&reads_, &writes_, &cancels_, &finishes_}) order->Take();
    handler_->OnDone();
    CallCount* const calls = calls_;
    const int side = side_;
    delete this;
    calls->Leave(side);
  }

  grpc::CallbackServerContext* const context_;
  CallCount* const calls_;
  const int side_;
  // One a kind of reaction: those of different kinds may overlap.
  HandOver reads_;
  HandOver writes_;
  HandOver cancels_;
  HandOver finishes_;
  std::unique_ptr<StreamHandler> handler_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartStreamCall(
    const StreamHandlerFactory& factory, grpc::CallbackServerContext* context, CallCount* calls) {
  auto* call = new GrpcStreamCall(context, calls);  // gRPC owns it; OnDone deletes it.
  call->Start(factory);
  return call;
}

}  // namespace shoal::transport
