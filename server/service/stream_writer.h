#pragma once

#include <deque>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "server/transport/call.h"

namespace shoal::service {

/// The writing half of a stream: a queue behind the one write that may be outstanding, and the
/// one finish, which waits for that write. Reads go through it too, so that none is asked for
/// after the finish.
///
/// Thread-safety: all calls from any thread.
class StreamWriter {
 public:
  /// `call` outlives the writer.
  explicit StreamWriter(transport::StreamCall* call) : call_(call) {}

  /// Sends `frame` after those before it. After a finish it is dropped.
  void Push(transport::Frame frame);

  /// Asks for the next message, unless the call was finished. Within the stream's own callbacks.
  void Read();

  /// To be called for each OnWritten. Returns the number of frames that still wait.
  size_t OnWritten(bool ok);

  /// Finishes the call: after all frames if `status` is OK, else after the outstanding one. False:
  /// it had been finished before, and this is ignored.
  ///
  /// Called from outside the stream's own callbacks, it may destroy the handler before it returns.
  bool Finish(absl::Status status);

  /// Frames that wait, the outstanding one not counted.
  size_t queued() const;

 private:
  void Next(std::unique_lock<std::mutex> lock);

  transport::StreamCall* const call_;
  mutable std::mutex mutex_;
  std::deque<transport::Frame> queue_;
  bool writing_ = false;
  int asking_ = 0;  // Threads within Read.
  bool finished_ = false;
  std::optional<absl::Status> finish_;
};

}  // namespace shoal::service
