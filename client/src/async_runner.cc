#include "client/src/async_runner.h"

#include <utility>

#include "absl/status/statusor.h"
#include "base/start_thread.h"

namespace shoal::internal {

AsyncRunner::~AsyncRunner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  // Nobody posts any more, so that the list of threads is settled.
  for (std::thread& thread : threads_) thread.join();
}

void AsyncRunner::Post(Job job) {
  absl::Status thread;
  {
    const std::lock_guard lock(mutex_);
    thread = MayStartThread();
    if (thread.ok()) {
      jobs_.push_back(std::move(job));
      changed_.notify_one();
      return;
    }
  }
  std::move(job)(thread);
}

/// Has one more thread, if one more job wants it. With the lock held.
absl::Status AsyncRunner::MayStartThread() {
  const auto count = static_cast<int>(threads_.size());
  if (static_cast<int>(jobs_.size()) < idle_ || count == threads_max_) return absl::OkStatus();
  absl::StatusOr<std::thread> thread = StartThread([this] { Loop(); });
  if (thread.ok()) {
    threads_.push_back(*std::move(thread));
  } else if (count == 0) {
    return thread.status();
  }
  return absl::OkStatus();  // Those there are take the job in their turn.
}

void AsyncRunner::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    std::move(job)(absl::OkStatus());
    lock.lock();
  }
}

}  // namespace shoal::internal
