#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/src/async_runner.h"
#include "client/src/buffer_pool.h"
#include "client/src/channel_pool.h"
#include "client/src/lease_arena.h"
#include "client/src/retrier.h"
#include "client/src/session_core.h"
#include "client/src/shutdown.h"
#include "client/src/transfer.h"
#include "client/src/unary.h"
#include "shoal/client.h"

namespace shoal::internal {

/// What is behind a Client: its channels, planes, memory and threads.
///
/// Thread-safety: as Client.
class ClientCore {
 public:
  static absl::StatusOr<std::unique_ptr<ClientCore>> Connect(const ClientOptions& options);
  ~ClientCore();
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;

  const ServerInfo& info() const { return info_; }
  Plane plane() const { return plane_; }

  /// For a session of its own connection.
  absl::StatusOr<SessionCore::Setup> SessionSetup(const SessionOptions& options) const;

  /// What a call in the calling thread runs under.
  CallEnv Env(std::optional<std::chrono::nanoseconds> timeout);

  absl::StatusOr<Array> Allocate(Dtype dtype, Shape shape);
  /// Into `reply`, if that is given; else into new memory.
  absl::StatusOr<Array> Echo(const Array& payload, const Array* reply, Route route,
                             const CallEnv& env);
  absl::StatusOr<Result> Apply(const Call& call, const CallEnv& env);
  absl::StatusOr<ArrayInfo> Put(const Array& array, const PutOptions& options, const CallEnv& env);
  absl::StatusOr<Array> Get(const ArrayRef& reference, const Progress& progress,
                            const CallEnv& env);
  absl::StatusOr<ArrayInfo> GetInto(const ArrayRef& reference, absl::Span<std::byte> bytes,
                                    const Progress& progress, const CallEnv& env);

  /// A unary call that may be repeated.
  absl::Status Ask(Method method, const google::protobuf::MessageLite& request,
                   google::protobuf::MessageLite* response, const CallEnv& env) const;
  const UnaryChannel& unary() const { return *unary_; }

  void ApplyAsync(Call call, Callback<Result> done);
  /// Runs `job` in a thread of this object's, with an environment that its destructor cancels.
  template <typename T>
  void RunAsync(std::optional<std::chrono::nanoseconds> timeout,
                absl::AnyInvocable<absl::StatusOr<T>(const CallEnv&) &&> job, Callback<T> done);

 private:
  explicit ClientCore(ClientOptions options);

  template <typename T>
  void RunUnder(const CallEnv& env, absl::AnyInvocable<absl::StatusOr<T>(const CallEnv&) &&> job,
                Callback<T> done);

  absl::Status FetchInfo();
  absl::Status ChoosePlane();
  absl::Status UseUnixSocket();
  absl::Status ConnectArena();
  void FinishSetup();

  /// Null: no plane A. Comes back by itself after the server was started anew.
  std::shared_ptr<LeaseArena> Arena();
  absl::StatusOr<LeasedArrayResult> GetByLease(const ArrayRef& reference, const Progress& progress,
                                               const CallEnv& env);
  absl::StatusOr<Result> TryApply(const Call& call, const CallEnv& env, bool* may_repeat);
  absl::StatusOr<transport::Message> TryEcho(const Array& payload, Route route, const CallEnv& env);
  absl::StatusOr<Array> EchoInline(const Array& payload, const Array* reply, Route route,
                                   const CallEnv& env);

  const ClientOptions options_;
  ServerInfo info_;
  OpOutputs outputs_;  // Of info_.ops.
  Plane plane_ = Plane::kTcp;
  transport::ChannelOptions channel_options_;
  std::unique_ptr<UnaryChannel> unary_;
  std::shared_ptr<ChannelPool> channels_;  // Shared with loans.
  std::shared_ptr<BufferPool> pool_;       // Shared with arrays.
  TransferContext transfer_;

  std::mutex arena_mutex_;
  std::shared_ptr<LeaseArena> arena_;  // Shared with arrays.
  Deadline::Clock::time_point arena_tried_;

  Shutdown shutdown_;
  // Destroyed in this order: answers first, they may post jobs.
  std::unique_ptr<AsyncRunner> runner_;
  std::unique_ptr<transport::AsyncCalls> async_calls_;
};

template <typename T>
void ClientCore::RunAsync(std::optional<std::chrono::nanoseconds> timeout,
                          absl::AnyInvocable<absl::StatusOr<T>(const CallEnv&) &&> job,
                          Callback<T> done) {
  CallEnv env = Env(timeout);
  env.cancellable = true;
  RunUnder(env, std::move(job), std::move(done));
}

template <typename T>
void ClientCore::RunUnder(const CallEnv& env,
                          absl::AnyInvocable<absl::StatusOr<T>(const CallEnv&) &&> job,
                          Callback<T> done) {
  runner_->Post([this, env, job = std::move(job),
                 done = std::move(done)](const absl::Status& thread) mutable {
    if (!thread.ok()) {
      std::move(done)(thread);
    } else if (shutdown_.begun()) {
      std::move(done)(absl::CancelledError("the client was destroyed"));
    } else {
      std::move(done)(std::move(job)(env));
    }
  });
}

}  // namespace shoal::internal
