#pragma once

#include <grpcpp/completion_queue.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "client/src/unary.h"

namespace shoal::internal {

/// A few threads for calls that block. They start when first needed.
///
/// Thread-safety: all methods.
class AsyncRunner {
 public:
  using Job = absl::AnyInvocable<void() &&>;

  explicit AsyncRunner(int threads_max) : threads_max_(threads_max) {}
  /// Runs what is queued, then ends.
  ~AsyncRunner();
  AsyncRunner(const AsyncRunner&) = delete;
  AsyncRunner& operator=(const AsyncRunner&) = delete;

  void Post(Job job);

 private:
  void Loop();

  const int threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

/// Unary calls that nobody waits for: one thread takes all answers. It starts when first needed.
///
/// Thread-safety: all methods.
class AsyncUnary {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<grpc::ByteBuffer>) &&>;

  AsyncUnary();
  /// Waits for all answers.
  ~AsyncUnary();
  AsyncUnary(const AsyncUnary&) = delete;
  AsyncUnary& operator=(const AsyncUnary&) = delete;

  struct Request {
    Method method = Method::kApply;
    grpc::ByteBuffer message;
  };
  /// `done` runs in this object's thread. `env.shutdown` cancels the call.
  void Start(const std::shared_ptr<grpc::Channel>& channel, const Request& request,
             const CallEnv& env, Done done);

 private:
  struct Pending;

  void Loop();

  std::once_flag started_;
  grpc::CompletionQueue queue_;
  std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Pending>> pending_;  // By tag, its own address.
  std::thread thread_;
};

}  // namespace shoal::internal
