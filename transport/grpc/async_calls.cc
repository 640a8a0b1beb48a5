#include "transport/grpc/async_calls.h"

#include <grpcpp/generic/generic_stub.h>

#include <optional>
#include <utility>

#include "base/start_thread.h"
#include "base/status.h"
#include "transport/grpc/byte_buffer.h"
#include "transport/grpc/call_context.h"

namespace shoal::transport {
namespace {

using RawStub = grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer>;

}  // namespace

struct GrpcAsyncCalls::Pending {
  std::optional<CallContext> context;
  grpc::ByteBuffer reply;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  Done done;
};

// Here, since the members' types are whole only here.
GrpcAsyncCalls::GrpcAsyncCalls(const Connection* connection) : connection_(*connection) {}

GrpcAsyncCalls::~GrpcAsyncCalls() {
  queue_.Shutdown();
  if (thread_.joinable()) {
    thread_.join();
    return;
  }
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

absl::Status GrpcAsyncCalls::StartLoop() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(thread_, StartThread([this] { Loop(); }));
  return absl::OkStatus();
}

void GrpcAsyncCalls::Start(size_t method, const Frame& request, const CallTerms& terms, Done done) {
  if (absl::Status started = StartLoop(); !started.ok()) {
    std::move(done)(std::move(started));
    return;
  }
  auto owned = std::make_unique<Pending>();
  Pending* call = owned.get();
  call->context.emplace(terms);
  call->done = std::move(done);
  call->reader = RawStub(connection_.native())
                     .PrepareUnaryCall(call->context->get(), connection_.Path(method),
                                       ToByteBuffer(request, nullptr), &queue_);
  // Once `Finish` has begun, the loop may take the call: nothing of it is touched afterwards.
  auto* reader = call->reader.get();
  {
    const std::lock_guard lock(mutex_);
    pending_.emplace(call, std::move(owned));
  }
  reader->StartCall();
  reader->Finish(&call->reply, &call->status, call);
}

void GrpcAsyncCalls::Loop() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    std::unique_ptr<Pending> call;
    {
      const std::lock_guard lock(mutex_);
      const auto it = pending_.find(tag);
      call = std::move(it->second);
      pending_.erase(it);
    }
    absl::StatusOr<Message> reply;
    if (call->status.ok()) {
      reply = ToMessage(call->reply);
    } else {
      reply = FromGrpc(call->status);
    }
    Done done = std::move(call->done);
    call.reset();
    std::move(done)(std::move(reply));
  }
}

}  // namespace shoal::transport
