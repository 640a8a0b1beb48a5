#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/memory/budget.h"
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

  /// A task under way will have a result of `bytes`: they count as waiting from now on, until its
  /// result takes their place.
  void Expect(int64_t bytes);

  /// The result of a task that went well and has no outputs; nothing was expected of it.
  void Done(uint64_t ticket, uint64_t id);
  /// Any other result: a serialised SessionResult. `held`, of the bytes that were expected, pays
  /// for it until it has left.
  void Result(uint64_t ticket, std::string result, memory::Reservation held = {});

  /// Between Hold and Release nothing leaves: results that come at once travel together. False: the
  /// call was finished, and nothing is held.
  bool Hold();
  void Release();

  /// Bytes of results that have not left, because the caller reads slowly or their turn has not
  /// come, and of those that are expected. It falls only before OnWritten returns, or before a
  /// write that is still to come.
  int64_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }

  /// Tasks begun whose results have not left.
  int64_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

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
    memory::Reservation held;
  };
  /// As many results as one message has room for.
  struct Packed {
    std::string bytes;
    int64_t count = 0;
    int64_t result_bytes = 0;
    memory::Reservation held;
  };

  void EndInOrder(uint64_t ticket, Slot slot);
  void Add(Slot slot);
  void Count(int64_t bytes);
  void Drop();
  transport::Frame TakeFrame();
  void Next(std::unique_lock<std::mutex> lock);

  transport::StreamCall* const call_;
  const size_t message_bytes_max_;
  mutable std::mutex mutex_;
  bool ordered_ = false;
  int64_t open_ = 0;  // Tasks without a result.
  int64_t credits_ = 0;
  std::vector<uint64_t> done_;
  std::deque<Packed> results_;
  std::deque<Slot> line_;                   // Ordered: all that have not left.
  uint64_t line_begin_ = 0;                 // The ticket of the first of them.
  std::atomic<int64_t> waiting_bytes_ = 0;  // Written under the mutex, as the next.
  std::atomic<int64_t> in_flight_ = 0;
  int holds_ = 0;
  bool writing_ = false;
  int64_t writing_bytes_ = 0;
  memory::Reservation writing_held_;
  bool broken_ = false;
  bool finishing_ = false;
  bool drop_ = false;
  bool finished_ = false;
  absl::Status finish_;
};

}  // namespace shoal::service
