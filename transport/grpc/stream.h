#pragma once

#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "transport/channel.h"
#include "transport/grpc/byte_buffer.h"
#include "transport/grpc/call_context.h"
#include "transport/grpc/connection.h"

namespace shoal::transport {

/// Each waits on a completion queue of its own.
class GrpcStream final : public Stream {
 public:
  GrpcStream(Connection* connection, size_t method, const CallTerms& terms);
  ~GrpcStream() override;
  GrpcStream(const GrpcStream&) = delete;
  GrpcStream& operator=(const GrpcStream&) = delete;

  bool can_send() const override { return !writing_ && !write_ended_ && !read_ended_; }
  void Send(const Frame& frame, bool last) override;
  void CloseSend() override;
  Event Wait() override;
  const wire::Pieces& message() const override { return pieces_; }
  absl::Status Finish() override;
  void Cancel() override { context_->Cancel(); }

 private:
  using Native = grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  void TakeMessage();
  void Drain();

  SliceGuard guard_;
  Connection& connection_;
  std::optional<CallContext> context_;
  std::optional<grpc::CompletionQueue> queue_;
  std::unique_ptr<Native> native_;

  // Of the waiting thread.
  grpc::ByteBuffer received_;
  std::vector<grpc::Slice> slices_;  // What `pieces_` points into.
  wire::Pieces pieces_;
  bool reading_ = false;
  bool read_ended_ = false;
  bool end_told_ = false;
  bool finished_ = false;

  bool started_ = false;  // By the first Send, which comes before all else.
  // Of whoever sends, and of the waiting thread.
  std::atomic<bool> writing_ = false;
  std::atomic<bool> write_ended_ = false;
};

}  // namespace shoal::transport
