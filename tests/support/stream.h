#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/transport/call.h"

namespace shoal::support {

/// A message of `bytes`, cut into pieces of at most `piece_bytes`.
transport::Message MakeMessage(std::string bytes, size_t piece_bytes = SIZE_MAX);

/// All bytes of a frame, as the peer would receive them.
std::string Flatten(const transport::Frame& frame);

/// A stream whose peer is the test: it holds the handler, keeps what is written, and hands over
/// messages. Breaches of the contract of StreamCall (two reads at once, anything after the finish,
/// a second finish) fail the test.
///
/// Thread-safety: the handler's side from any thread. Of the peer's side, Send and HalfClose from
///   one thread, Written from one, Cancel from one.
class TestStream final : public transport::StreamCall {
 public:
  explicit TestStream(const transport::StreamHandlerFactory& factory,
                      std::optional<Duration> time_left = std::nullopt);
  /// Cancels a call that was not finished, answers what is outstanding, and lets the handler go.
  ~TestStream() override;

  // The handler's side.
  std::optional<Duration> TimeLeft() const override { return time_left_; }
  std::string Peer() const override { return "test"; }
  bool IsCancelled() const override;
  void Finish(const absl::Status& status) override;
  void Read() override;
  void Write(transport::Frame frame) override;
  void WriteAndFinish(transport::Frame frame) override;

  // The peer's side.

  /// Waits until the handler reads, and gives it the message. False: the call was finished instead.
  bool Send(const std::string& bytes, size_t piece_bytes = SIZE_MAX);
  bool HalfClose();

  /// Whether the handler wants a message now.
  bool IsReading() const;

  /// Waits for a write, answers it, and returns what was written; nothing once the call was
  /// finished and its last message was taken.
  std::optional<std::string> Receive(bool ok = true);

  /// Waits for a write, or the last message, and leaves it unanswered.
  void AwaitWrite();
  bool IsWriting() const;

  void Cancel();

  /// Answers writes until the call is finished. The status it was finished with.
  absl::Status AwaitFinish();
  bool IsFinished() const;

  /// As AwaitFinish; keeps what is written on the way.
  absl::Status ReceiveAll(std::vector<std::string>* messages);

 private:
  bool TakeRead();
  /// With the lock.
  std::optional<std::string> Last();
  /// After a cancellation: ends a read or a write that is outstanding, as the transport does. False
  /// when the call is finished.
  bool BreakOff();

  const std::optional<Duration> time_left_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::unique_ptr<transport::StreamHandler> handler_;
  bool reading_ = false;
  std::optional<transport::Frame> writing_;
  std::optional<transport::Frame> last_;  // That came with the finish.
  bool cancelled_ = false;
  std::optional<absl::Status> finished_;
};

}  // namespace shoal::support
