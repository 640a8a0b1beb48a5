#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/status/status.h"

namespace shoal::bench {

/// Calls that have ended on other threads, for the one that waits for them.
///
/// Thread-safety: all calls from any thread.
class Completions {
 public:
  void Add(int64_t tag, const absl::Status& status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    status_.Update(status);
    ended_.push_back(tag);
    changed_.notify_one();
  }

  /// Waits until one has ended; adds the tags of all that have. Errors: the first call's.
  absl::Status Await(std::vector<int64_t>* ended) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !ended_.empty(); });
    ended->insert(ended->end(), ended_.begin(), ended_.end());
    ended_.clear();
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> ended_;
  absl::Status status_;
};

}  // namespace shoal::bench
