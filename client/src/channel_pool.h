#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/src/method.h"
#include "client/src/shutdown.h"
#include "transport/channel.h"

namespace shoal::internal {

/// Channels for bulk streams, one at a time each, so that streams share neither a connection nor
/// its window.
///
/// Thread-safety: all methods. Lifetime: loans may outlive the pool's last other owner.
class ChannelPool : public std::enable_shared_from_this<ChannelPool> {
 public:
  explicit ChannelPool(transport::ChannelOptions options) : options_(std::move(options)) {}

  /// A channel for one user; its destructor brings it back, unless the connection is broken.
  class Loan {
   public:
    Loan(std::shared_ptr<ChannelPool> pool, std::unique_ptr<transport::Channel> channel)
        : pool_(std::move(pool)), channel_(std::move(channel)) {}
    Loan(Loan&&) = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan();

    transport::Channel* operator->() const { return channel_.get(); }

   private:
    std::shared_ptr<ChannelPool> pool_;  // Shared by the Client and all loans.
    std::unique_ptr<transport::Channel> channel_;
  };

  /// Errors: those of MakeChannel.
  absl::StatusOr<Loan> Borrow();

 private:
  void Return(std::unique_ptr<transport::Channel> channel);

  const transport::ChannelOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<transport::Channel>> idle_;
};

/// A stream, begun by its first Send, on a channel that it has to itself.
class BulkStream {
 public:
  /// What is in `env` outlives the stream. Errors: DEADLINE_EXCEEDED; those of MakeChannel.
  static absl::StatusOr<BulkStream> Make(ChannelPool* channels, Method method, const CallEnv& env);

  transport::Stream* operator->() const { return stream_.get(); }
  transport::Stream* get() const { return stream_.get(); }

 private:
  BulkStream(ChannelPool::Loan loan, std::unique_ptr<transport::Stream> stream)
      : loan_(std::move(loan)), stream_(std::move(stream)) {}

  ChannelPool::Loan loan_;
  std::unique_ptr<transport::Stream> stream_;  // Ends before its channel.
};

}  // namespace shoal::internal
