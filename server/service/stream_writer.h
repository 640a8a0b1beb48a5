#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "server/transport/call.h"

namespace shoal::service {

/// The writing half of a stream: a queue behind the one write that may be outstanding, and the
/// one finish, which waits for that write and for all frames that are still being made. Reads go
/// through it too, so that none is asked for after the finish.
///
/// Thread-safety: all calls from any thread.
class StreamWriter {
 public:
  /// `call` outlives the writer.
  explicit StreamWriter(transport::StreamCall* call) : call_(call) {}

  /// Sends `frame` after those before it. After a finish it is dropped.
  void Push(transport::Frame frame);

  /// Takes the place in the queue of a frame that is still being made: what is pushed later leaves
  /// after it. To be answered by one Fill, until which the call is not finished: whoever makes the
  /// frame may use the handler so long. Nothing: the call is finished already, and the frame is not
  /// to be made.
  std::optional<uint64_t> Hold();

  /// The frame for a place, or that there is none. Like Finish, it may destroy the handler.
  void Fill(uint64_t place, std::optional<transport::Frame> frame);

  /// Asks for the next message, unless the call was finished. Within the stream's own callbacks.
  void Read();

  /// While one lives, what is pushed and finished is gathered: a last frame and the finish leave
  /// together, in one packet and one wake-up. For the stream's own callbacks, and for whoever holds
  /// the handler: its destructor, like Finish, may destroy that, so it goes after every lock.
  class Gather {
   public:
    explicit Gather(StreamWriter* writer);
    ~Gather();
    Gather(const Gather&) = delete;
    Gather& operator=(const Gather&) = delete;

   private:
    StreamWriter* const writer_;
  };

  /// To be called for each OnWritten.
  void OnWritten(bool ok);

  /// Finishes the call: after all frames if `status` is OK, else after the outstanding one. False:
  /// it had been finished before, and this is ignored, unless it is an error that takes the place
  /// of an OK which still waits for frames.
  ///
  /// Called from outside the stream's own callbacks, it may destroy the handler before it returns.
  bool Finish(absl::Status status);

  /// Frames that wait, the outstanding one not counted.
  size_t queued() const;

 private:
  struct Place {
    transport::Frame frame;
    bool ready = true;   // Not waiting for its Fill.
    bool empty = false;  // Given up.
  };

  void Next(std::unique_lock<std::mutex> lock);
  bool MayFinish() const;  // With the lock, as all below.
  void PopFront();
  void Clear();

  transport::StreamCall* const call_;
  mutable std::mutex mutex_;
  std::deque<Place> queue_;
  uint64_t first_ = 0;  // The number of the place at the queue's head.
  int held_ = 0;        // Places that wait for their Fill, dropped ones included.
  bool writing_ = false;
  int asking_ = 0;     // Threads within Read.
  int gathering_ = 0;  // Gathers that live.
  bool finished_ = false;
  std::optional<absl::Status> finish_;
};

}  // namespace shoal::service
