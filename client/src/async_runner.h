#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"

namespace shoal::internal {

/// A few threads for calls that block. They start when first needed.
///
/// Thread-safety: all methods.
class AsyncRunner {
 public:
  /// Called once: with OK in a thread of the runner's; with RESOURCE_EXHAUSTED in that of Post,
  /// before it returns, where the first thread cannot be had.
  using Job = absl::AnyInvocable<void(const absl::Status& thread) &&>;

  explicit AsyncRunner(int threads_max) : threads_max_(threads_max) {}
  /// Runs what is queued, then ends.
  ~AsyncRunner();
  AsyncRunner(const AsyncRunner&) = delete;
  AsyncRunner& operator=(const AsyncRunner&) = delete;

  void Post(Job job);

 private:
  absl::Status MayStartThread();
  void Loop();

  const int threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace shoal::internal
