#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace shoal::bench {

/// A program started by this one, ended at the latest with it.
///
/// Its standard output is read to the end, whether somebody asks for the lines or not; its error
/// stream is ours. Its standard input is a pipe that closes when this process goes, however it
/// goes; on Linux the child also gets SIGTERM then.
///
/// Thread-safety: one thread at a time.
class Child {
 public:
  /// Runs `arguments[0]`, a path or a name to be found in PATH, with the rest.
  ///
  /// Errors:
  ///   NOT_FOUND  no such program, or it may not be run.
  static absl::StatusOr<std::unique_ptr<Child>> Start(const std::vector<std::string>& arguments);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Stops it if it still runs.
  ~Child();

  /// Writes `line` and a newline to its standard input.
  ///
  /// Errors:
  ///   UNAVAILABLE  it reads no more, or has ended.
  absl::Status SendLine(const std::string& line);

  /// Waits for a line of its output that begins with `prefix`; returns what follows. Lines before
  /// it are dropped.
  ///
  /// Errors:
  ///   DEADLINE_EXCEEDED  none came in time.
  ///   UNAVAILABLE        its output ended without one.
  absl::StatusOr<std::string> AwaitLine(const std::string& prefix, Duration timeout);

  /// Waits until it ends by itself; returns everything it has printed that AwaitLine left.
  ///
  /// Errors:
  ///   DEADLINE_EXCEEDED  it still runs.
  ///   ABORTED            it ended with another status than 0.
  absl::StatusOr<std::string> AwaitEnd(Duration timeout);

  /// Sends SIGTERM, and SIGKILL after `grace`. Returns OK when it ended with 0 or by our SIGTERM.
  ///
  /// Errors:
  ///   ABORTED            it ended with another status.
  ///   DEADLINE_EXCEEDED  it had to be killed.
  absl::Status Stop(Duration grace);

  pid_t pid() const { return pid_; }

 private:
  Child(pid_t pid, int input, int output);
  void ReadLines();
  absl::Status Reap(Duration timeout);  // OK: it ended; DEADLINE_EXCEEDED: not yet.

  pid_t pid_;
  int input_;
  int output_;
  bool ended_ = false;
  int wait_status_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool output_ended_ = false;
  std::thread reader_;
};

}  // namespace shoal::bench
