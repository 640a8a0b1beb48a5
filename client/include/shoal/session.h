#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "shoal/call.h"
#include "shoal/options.h"

namespace shoal {

namespace internal {
class SessionCore;
}  // namespace internal

/// A call that was encoded once, to be submitted many times: a few nanoseconds each.
///
/// A value; copies share the encoding. Thread-safety: const.
class PreparedCall {
 public:
  /// Its arrays travel inside every task, so they should be small; stored arrays cost nothing.
  /// `WriteTo` is not for sessions. Leased arrays travel by value too.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  no op, or a destination that a session cannot serve.
  static absl::StatusOr<PreparedCall> Make(const Call& call);

  /// Bytes that one task takes on the wire, without its id.
  int64_t byte_count() const { return static_cast<int64_t>(encoded_->size()); }

 private:
  friend class Session;
  friend class internal::SessionCore;
  explicit PreparedCall(std::string encoded);

  // Fields `call` and `timeout_us` of a SessionTask. Shared by all copies.
  std::shared_ptr<const std::string> encoded_;
};

/// How a task ended.
struct TaskResult {
  uint64_t id = 0;
  absl::Status status = {};
  std::vector<Output> outputs = {};
};

/// Called once, when the task has ended.
using TaskCallback = absl::AnyInvocable<void(TaskResult) &&>;

/// Tasks of one bulk submission that have ended since the last report: those that went well and
/// returned nothing, by id, and all others. The spans are valid during the call only.
struct BulkReport {
  absl::Span<const uint64_t> done;
  absl::Span<TaskResult> results;
};
using BulkCallback = absl::AnyInvocable<void(const BulkReport&)>;

/// Consecutive ids.
struct TaskRange {
  uint64_t first = 0;
  int64_t count = 0;
};

/// What a flood came to.
struct FloodReport {
  int64_t ok_count = 0;
  int64_t failed_count = 0;
  absl::Status first_error = {};
  std::chrono::nanoseconds sent{0};   ///< From the start until the last task was handed to gRPC.
  std::chrono::nanoseconds total{0};  ///< From the start until the last result.
};

/// A stream that carries many tasks at once.
///
/// Tasks that are submitted close together travel together (SessionOptions). The server grants
/// credits; tasks beyond them wait here. Each task ends exactly once: with the server's result, or,
/// when the stream breaks, with the stream's error (UNAVAILABLE, ...): such a task may or may not
/// have run, and is not repeated.
///
/// Callbacks run in the session's own thread, one after the other. They may submit, but must not
/// block and must not destroy or wait for the session. Ids count up from 1 and are never reused.
///
/// Lifetime: independent of the Client that opened it. The destructor cancels what has not ended
/// and waits for the callbacks.
/// Thread-safety: all methods, from any thread.
///
///     auto call = shoal::PreparedCall::Make({.op = "echo"});
///     auto session = client->OpenSession();
///     auto report = (*session)->Flood(*call, 10'000);
class Session {
 public:
  explicit Session(std::unique_ptr<internal::SessionCore> core);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Hands a task over; returns its id. Blocks while `queue_tasks_max` tasks wait, except inside a
  /// callback.
  ///
  /// Cost: about 100 ns; no call into gRPC unless the session is idle.
  ///
  /// Errors (the callback is then never called):
  ///   FAILED_PRECONDITION  the session was closed.
  ///   RESOURCE_EXHAUSTED   from inside a callback: too many tasks wait.
  ///   INVALID_ARGUMENT     `call` is larger than a message may be, or as `PreparedCall::Make`.
  ///   any other            the stream has broken with this error.
  absl::StatusOr<uint64_t> Submit(const PreparedCall& call, TaskCallback on_end);
  absl::StatusOr<uint64_t> Submit(const Call& call, TaskCallback on_end);

  /// Hands many tasks over under one lock; their ids are consecutive, in order. `on_report` is
  /// called whenever some have ended, until all have.
  ///
  /// Errors: as Submit; all tasks are taken, or none.
  absl::StatusOr<TaskRange> SubmitBatch(absl::Span<const PreparedCall> calls,
                                        BulkCallback on_report);

  /// Submits `call` `count` times, as fast as credits allow, and waits until all have ended.
  /// `on_report`, if given, runs in the session's thread. Not from inside a callback.
  ///
  /// Memory: does not grow with `count`; a task costs nothing before it is sent.
  /// Errors: as Submit. The stream's error if it broke meanwhile.
  absl::StatusOr<FloodReport> Flood(const PreparedCall& call, int64_t count,
                                    BulkCallback on_report = {});

  /// Asks the server to give a task up; its callback still runs once, with what it had become. An
  /// id that has ended, or never was, is ignored.
  void Cancel(uint64_t id);

  /// Waits until no task is pending: all that any thread has submitted have ended, and their
  /// callbacks have run.
  ///
  /// Errors: the error with which the stream broke.
  absl::Status Wait();

  /// Takes no more tasks, waits for all, and ends the stream. Repeated: returns the same.
  ///
  /// Errors: the stream's status.
  absl::Status Close();

  /// Tasks that have been submitted and have not ended.
  int64_t pending_count() const;

  /// Messages and tasks sent so far: their quotient is the size of a batch.
  struct Counters {
    int64_t messages_sent = 0;
    int64_t tasks_sent = 0;
    int64_t messages_received = 0;
  };
  Counters counters() const;

 private:
  std::unique_ptr<internal::SessionCore> core_;
};

}  // namespace shoal
