#include "server/transport/grpc/unary_call.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "base/hand_over.h"
#include "server/transport/grpc/status_mapping.h"
#include "transport/grpc/byte_buffer.h"

namespace shoal::transport {
namespace {

/// Two owners keep a call alive: gRPC, from the start to OnDone, and the handler, as long as it
/// holds the pointer it was given.
class GrpcUnaryCall final : public UnaryCall, public grpc::ServerUnaryReactor {
 public:
  GrpcUnaryCall(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                grpc::ByteBuffer* response)
      : context_(context), request_(ToMessage(*request)), response_(response) {}

  /// Counts the call until OnDone.
  void CountIn(CallCount* calls) {
    calls_ = calls;
    side_ = calls->Enter();
  }

  /// gRPC's share in the ownership, dropped by OnDone.
  void Hold(std::shared_ptr<GrpcUnaryCall> self) {
    self_ = std::move(self);
    order_.Give();
  }

  std::optional<Duration> TimeLeft() const override { return TimeLeftOf(*context_); }
  std::string Peer() const override { return context_->peer(); }
  bool IsCancelled() const override { return context_->IsCancelled(); }
  const Message& Request() const override { return request_; }

  void Finish(const absl::Status& status) override {
    ForgetCancelAction();
    order_.Give();
    grpc::ServerUnaryReactor::Finish(ToGrpcStatus(status));
  }

  void Reply(Frame frame) override {
    ForgetCancelAction();
    *response_ = ToByteBuffer(frame, nullptr);
    order_.Give();
    grpc::ServerUnaryReactor::Finish(grpc::Status::OK);
  }

  void OnCancel(absl::AnyInvocable<void() &&> cancelled) override {
    {
      const std::lock_guard lock(mutex_);
      if (!was_cancelled_) {
        cancel_action_ = std::move(cancelled);
        return;
      }
    }
    std::move(cancelled)();
  }

 private:
  void OnCancel() override {
    const HandOver::Turn turn(&order_);
    absl::AnyInvocable<void() &&> action;
    {
      const std::lock_guard lock(mutex_);
      was_cancelled_ = true;
      action = std::exchange(cancel_action_, nullptr);
    }
    if (action) std::move(action)();
  }

  // Without this gRPC 1.51 wakes a thread of its executor for every OnDone, which costs a small
  // call more than its handler does. What it asks of a reactor holds here: neither blocks, and
  // nobody waits for one under a lock.
  bool InternalInlineable() override { return true; }

  void OnDone() override {
    order_.Take();
    auto last = std::move(self_);
    CallCount* const calls = calls_;
    const int side = side_;
    last.reset();  // May destroy this object.
    calls->Leave(side);
  }

  void ForgetCancelAction() {
    absl::AnyInvocable<void() &&> action;  // Destroyed outside the lock.
    const std::lock_guard lock(mutex_);
    action = std::exchange(cancel_action_, nullptr);
  }

  grpc::CallbackServerContext* const context_;
  const Message request_;
  grpc::ByteBuffer* const response_;
  HandOver order_;
  std::shared_ptr<GrpcUnaryCall> self_;
  CallCount* calls_ = nullptr;
  int side_ = 0;
  std::mutex mutex_;
  bool was_cancelled_ = false;
  absl::AnyInvocable<void() &&> cancel_action_;
};

}  // namespace

std::optional<Duration> TimeLeftOf(const grpc::ServerContextBase& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  return std::chrono::duration_cast<Duration>(deadline - std::chrono::system_clock::now());
}

grpc::ServerUnaryReactor* StartUnaryCall(const UnaryTarget& target,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
  auto call = std::make_shared<GrpcUnaryCall>(context, request, response);
  call->CountIn(target.calls);
  GrpcUnaryCall* reactor = call.get();
  reactor->Hold(call);
  // A caller that went away, or closed its side, before it had sent its request has sent none: not
  // an empty one, which is a request with all defaults.
  if (!request->Valid()) {
    call->Finish(absl::CancelledError("the call ended before its request came"));
    return reactor;
  }
  (*target.handler)(std::move(call));
  return reactor;
}

}  // namespace shoal::transport
