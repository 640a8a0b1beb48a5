#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "client/src/channel.h"
#include "client/src/shutdown.h"
#include "client/src/storage.h"
#include "wire/chunk.h"

namespace shoal::internal {

/// Counts the slices that refer to memory which nobody but the caller keeps alive.
///
/// Thread-safety: all methods.
class SliceGuard {
 public:
  grpc::Slice Reference(absl::Span<const std::byte> bytes);
  /// True: gRPC has let go of all of them. Waits that long for it.
  bool WaitIdle(Duration patience);

 private:
  static void Drop(void* guard);

  std::mutex mutex_;
  std::condition_variable idle_;
  int64_t count_ = 0;
};

/// One streaming call, driven by the thread that made it: no other thread is woken for it.
///
/// Messages are raw bytes. At most one is being sent at a time; reading goes on by itself.
/// Thread-safety: one thread.
class BulkStream {
 public:
  /// Starts nothing yet: the first Send does. `env` must outlive the stream.
  BulkStream(ChannelPool::Loan loan, const char* method, const CallEnv& env);
  /// Cancels what is under way. When it returns, gRPC refers to no memory of the caller's.
  ~BulkStream();
  BulkStream(const BulkStream&) = delete;
  BulkStream& operator=(const BulkStream&) = delete;

  /// True: Send may be called.
  bool can_send() const;
  /// Sends a message; with `last`, closes this direction after it.
  void Send(const grpc::ByteBuffer& message, bool last);
  /// Closes this direction without a message; a Send came before. Needs `can_send`.
  void CloseSend();

  enum class Event {
    kMessage,  ///< One has come: `message()` until the next Wait.
    kSent,     ///< Another may be sent.
    kEnded,    ///< The server has ended the call, or it broke: see `Finish`.
  };
  Event Wait();
  const wire::Pieces& message() const { return pieces_; }

  /// After kEnded: how.
  absl::Status Finish();

  /// A slice over payload: kept alive by `storage`, or, if that is null, by the caller until this
  /// object is gone.
  grpc::Slice PayloadSlice(absl::Span<const std::byte> bytes, const StorageRef& storage);

 private:
  using Stream = grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  void TakeMessage();
  void Drain();

  SliceGuard guard_;
  ChannelPool::Loan loan_;
  const CallEnv& env_;
  std::optional<grpc::ClientContext> context_;
  std::optional<Shutdown::Registration> registration_;
  std::optional<grpc::CompletionQueue> queue_;
  std::unique_ptr<Stream> stream_;

  grpc::ByteBuffer received_;
  std::vector<grpc::Slice> slices_;  // What `pieces_` points into.
  wire::Pieces pieces_;

  bool started_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool write_ended_ = false;
  bool read_ended_ = false;
  bool finished_ = false;
};

}  // namespace shoal::internal
