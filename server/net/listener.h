#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/net/descriptor.h"

namespace shoal::net {

/// A listening socket that outlives a want of descriptors.
///
/// A connection that waits while accept fails keeps the socket readable for ever: whoever polls
/// would spin, and whoever gives up is deaf from then on. So a spare descriptor is kept, which
/// takes such a connection in and hangs up on it, as nginx and libuv do; where even that fails, the
/// listener rests for a moment.
///
/// Thread-safety: one thread at a time.
class Listener {
 public:
  /// How long a listener that rests is left alone.
  static constexpr int kRestMs = 20;

  /// One socket for each address of "HOST:PORT", "[::1]:80"; port 0 picks one for all of them.
  ///
  /// Errors: UNAVAILABLE  the host is unknown, or the port is taken or not permitted.
  static absl::StatusOr<std::vector<Listener>> Tcp(const std::string& address);

  /// A Unix socket at `path`, which must not exist and goes with the listener. Its file has `mode`;
  /// nothing: what the umask says.
  ///
  /// Errors: UNAVAILABLE  it cannot be made.
  static absl::StatusOr<Listener> Unix(const std::string& path,
                                       std::optional<unsigned> mode = std::nullopt);

  Listener(Listener&& other) noexcept
      : socket_(std::move(other.socket_)),
        spare_(std::move(other.spare_)),
        path_(std::exchange(other.path_, "")),
        port_(other.port_),
        resting_(other.resting_),
        refused_count_(other.refused_count_) {}
  ~Listener();

  /// What to poll for reading; -1, which poll(2) passes over, while the listener rests.
  int PollFd() const { return resting_ ? -1 : socket_.fd(); }
  /// Call Accept after kRestMs, whatever poll says.
  bool resting() const { return resting_; }
  /// 0 for Unix sockets.
  int port() const { return port_; }
  /// Connections on which it hung up for want of descriptors.
  int64_t refused_count() const { return refused_count_; }

  /// The next connection, non-blocking and closed on exec; nothing where none waits or it was
  /// refused. Never blocks.
  std::optional<Descriptor> Accept();

 private:
  Listener(Descriptor socket, std::string path, int port);
  void Refuse();

  Descriptor socket_;
  Descriptor spare_;
  std::string path_;  // Empty: TCP.
  int port_ = 0;
  bool resting_ = false;
  int64_t refused_count_ = 0;
};

}  // namespace shoal::net
