#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/transport/call.h"

namespace shoal::service {

/// The way out of a session: results gathered into messages, one of them on its way at a time.
///
/// Thread-safety: all calls from any thread.
class SessionOutput {
 public:
  /// No message will be larger than `message_bytes_max`, which any one result has room in.
  SessionOutput(transport::StreamCall* call, int64_t message_bytes_max)
      : call_(call), message_bytes_max_(static_cast<size_t>(message_bytes_max)) {}

  /// Results leave in the order in which tasks were begun. Before the first Begin.
  void set_ordered() { ordered_ = true; }

  /// Sends the first message.
  void SendCredits(int64_t credits);

  /// `count` tasks will have a result. Their tickets, one after another from the one returned,
  /// are to be given back with the results.
  uint64_t Begin(size_t count);

  /// The result of a task that went well and has no outputs.
  void Done(uint64_t ticket, uint64_t id);
  /// Any other result: a serialised SessionResult.
  void Result(uint64_t ticket, std::string result);

  /// Between Hold and Release nothing leaves: results that come at once travel together.
  void Hold();
  void Release();

  /// Bytes of results that wait because the caller reads slowly.
  int64_t waiting_bytes() const;

  /// Asks for the next message, unless the call was finished. Within the stream's own callbacks.
  void Read();

  /// To be called for each OnWritten.
  void OnWritten(bool ok);

  /// Finishes the call with `status` once no task is without its result: after all results have
  /// left, or, if `drop_results`, as soon as none is on its way. The first counts.
  void Finish(absl::Status status, bool drop_results);

  /// What the call was finished with; meaningful after that.
  absl::Status finish_status() const;

 private:
  struct Slot {
    bool ended = false;
    std::string result;
  };

  void EndInOrder(uint64_t ticket, std::string result);
  void Add(absl::string_view result);
  transport::Frame TakeFrame();
  void Next(std::unique_lock<std::mutex> lock);

  transport::StreamCall* const call_;
  const size_t message_bytes_max_;
  mutable std::mutex mutex_;
  bool ordered_ = false;
  int64_t open_ = 0;  // Tasks without a result.
  int64_t credits_ = 0;
  std::vector<uint64_t> done_;
  std::deque<std::string> results_;  // Serialised; each as much as one message has room for.
  size_t results_bytes_ = 0;
  std::deque<Slot> line_;    // Ordered: all that have not left.
  uint64_t line_begin_ = 0;  // The ticket of the first of them.
  int holds_ = 0;
  bool writing_ = false;
  bool broken_ = false;
  bool finishing_ = false;
  bool drop_ = false;
  bool finished_ = false;
  absl::Status finish_;
};

}  // namespace shoal::service
