#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "client/src/buffer_pool.h"
#include "client/src/coalescer.h"
#include "client/src/session_codec.h"
#include "client/src/task_table.h"
#include "shoal/session.h"
#include "transport/channel.h"

namespace shoal::internal {

/// What is behind a Session.
///
/// One thread takes what comes and calls callbacks; whoever finds something due to be sent (a
/// submitter, that thread, or the timer) sends it, one message at a time. What is sent is chosen
/// under the lock and encoded outside it.
///
/// Thread-safety: as Session.
class SessionCore {
 public:
  struct Setup {
    std::unique_ptr<transport::Channel> channel;
    std::shared_ptr<BufferPool> pool;  ///< Shared with the Client and its arrays.
    SessionOptions options = {};
    int64_t first_credits = 1;  ///< Until the server has named its own number.
    int64_t task_bytes_max = 0;
  };
  /// Errors: RESOURCE_EXHAUSTED  no thread.
  static absl::StatusOr<std::unique_ptr<SessionCore>> Open(Setup setup);
  ~SessionCore();
  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;

  absl::StatusOr<uint64_t> Submit(const PreparedCall& call, TaskCallback on_end);
  absl::StatusOr<TaskRange> SubmitBatch(absl::Span<const PreparedCall> calls,
                                        BulkCallback on_report);
  absl::StatusOr<FloodReport> Flood(const PreparedCall& call, int64_t count,
                                    BulkCallback on_report);
  void Cancel(uint64_t id);
  absl::Status Wait();
  absl::Status Close();
  int64_t pending_count() const;
  Session::Counters counters() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Encoded = std::shared_ptr<const std::string>;  // Shared with the PreparedCall.

  /// A task with an id that has not been sent.
  struct Waiting {
    uint64_t id;
    Encoded encoded;
    bool cancelled = false;
  };
  /// Tasks that get their ids when they are sent.
  struct FloodSource {
    BulkRef group;
    Encoded encoded;
  };
  /// One message, before it is encoded.
  struct Outgoing {
    struct Tasks {
      uint64_t first;
      int64_t count;
      Encoded encoded;
    };
    bool open = false;
    bool close = false;  // Not a message, but the end of this direction.
    std::vector<Tasks> tasks = {};
    std::vector<uint64_t> cancels = {};
    BulkRef all_sent;  // A flood whose last task is in this message.
  };
  /// Consecutive elements of a reply that belong to one group.
  struct Run {
    BulkGroup* group;
    size_t begin;
    size_t end;
  };
  /// What one reply means for the callbacks.
  struct Deliveries {
    std::vector<std::pair<TaskCallback, TaskResult>> singles = {};
    std::vector<Run> done_runs = {};
    std::vector<Run> result_runs = {};
    int64_t count = 0;
  };

  explicit SessionCore(Setup setup);

  // All of these are called with the lock held.
  absl::Status Admit(Lock* lock, int64_t task_bytes);
  void Pump(Lock* lock);
  bool Choose(Instant now, Outgoing* outgoing);
  void ChooseTasks(Instant now, int64_t room, Outgoing* outgoing);
  void ChooseFlood(int64_t room, Outgoing* outgoing);
  int64_t Room(int64_t wanted) const;
  bool ArmTimer(Instant now);
  absl::Status Sort(SessionReply* reply, Deliveries* deliveries);
  void Settle(const SessionReply& reply, const Deliveries& deliveries);
  void Break(absl::Status status);

  void Send(const Outgoing& outgoing);
  void Deliver(SessionReply* reply, Deliveries* deliveries);
  void ReadLoop();
  void TakeReply();
  void Finish();
  void TimerLoop();
  bool InCallback() const;

  const Setup setup_;
  const std::unique_ptr<transport::Stream> stream_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // Room in the queue, tasks ended, the stream ended.
  TaskTable table_;
  std::deque<Waiting> waiting_;  // By rising id.
  std::deque<FloodSource> floods_;
  std::vector<uint64_t> cancels_;
  std::unordered_map<BulkGroup*, BulkRef> groups_;  // Until their last report.
  Coalescer coalescer_;
  int64_t window_;           // Tasks that may be unanswered at once.
  int64_t unsubmitted_ = 0;  // Tasks of floods that have no id yet.
  int64_t delivering_ = 0;   // Tasks that have ended whose callbacks have not returned.
  bool opened_ = false;
  bool writing_ = false;      // A message, or the end, is on its way.
  bool write_ended_ = false;  // Nothing can be sent any more.
  bool closed_ = false;       // By Close.
  bool ended_ = false;        // The stream has a status, and all callbacks have run.
  absl::Status broken_;       // Why no task is taken any more.
  Session::Counters counters_;

  std::condition_variable timer_changed_;
  std::optional<Instant> timer_at_;
  bool timer_stopping_ = false;
  std::thread timer_;  // Started when first needed.

  // Of the reading thread only.
  SessionReply reply_;
  Deliveries deliveries_;
  std::thread reader_;
};

}  // namespace shoal::internal
