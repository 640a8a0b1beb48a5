#pragma once

#include <grpcpp/channel.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "wire/keepalive.h"

namespace shoal::internal {

struct ChannelOptions {
  std::string target = {};        ///< "host:port" or "unix:/path".
  int64_t message_bytes_max = 0;  ///< The largest message the server sends.
  wire::Keepalive keepalive = {};
};

/// A channel with a connection of its own, made at its first call.
std::shared_ptr<grpc::Channel> MakeChannel(const ChannelOptions& options);

/// Channels for bulk streams, one at a time each, so that streams share neither a connection nor
/// its window.
///
/// Thread-safety: all methods. Lifetime: loans may outlive the pool's last other owner.
class ChannelPool : public std::enable_shared_from_this<ChannelPool> {
 public:
  explicit ChannelPool(ChannelOptions options) : options_(std::move(options)) {}

  /// A channel for one user; its destructor brings it back.
  class Loan {
   public:
    Loan(std::shared_ptr<ChannelPool> pool, std::shared_ptr<grpc::Channel> channel)
        : pool_(std::move(pool)), channel_(std::move(channel)) {}
    Loan(Loan&&) = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan();

    const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
    /// Closes its connection instead: it is broken, or has to let go of what it is sending.
    void Discard() { channel_.reset(); }

   private:
    std::shared_ptr<ChannelPool> pool_;  // Shared by the Client and all loans.
    std::shared_ptr<grpc::Channel> channel_;
  };

  Loan Borrow();

 private:
  void Return(std::shared_ptr<grpc::Channel> channel);

  const ChannelOptions options_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<grpc::Channel>> idle_;
};

}  // namespace shoal::internal
