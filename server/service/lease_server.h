#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "server/net/descriptor.h"
#include "server/net/listener.h"
#include "server/runtime/leases.h"
#include "server/telemetry/log.h"
#include "server/telemetry/log_limiter.h"
#include "wire/lease_protocol.h"

namespace shoal::service {

/// Hands out leases on a Unix socket (wire/lease_protocol.h), on one thread that sleeps while
/// nobody asks. Leases end with the connection they were given on.
///
/// Only processes of the server's own user may connect: the socket's file says so, and each
/// connection's credentials are looked at.
class LeaseServer {
 public:
  struct Options {
    std::string path;  ///< Must not exist.
    /// Whoever comes when so many are connected is hung up on, and has the other ways to send.
    int64_t connections_max = 1024;
    /// Of all connections together: each takes a descriptor.
    int64_t leases_max = 16384;
  };

  /// Borrows `leases` and `logger`.
  ///
  /// Errors:
  ///   UNAVAILABLE         the socket cannot be made.
  ///   RESOURCE_EXHAUSTED  no descriptor or no thread is left for it.
  static absl::StatusOr<std::unique_ptr<LeaseServer>> Start(const Options& options,
                                                            runtime::Leases* leases,
                                                            telemetry::Logger* logger);
  ~LeaseServer();

 private:
  struct Connection;

  struct Sockets {
    net::Listener listener;
    net::Descriptor wake;  // An eventfd: time to stop.
  };

  LeaseServer(const Options& options, Sockets sockets, runtime::Leases* leases,
              telemetry::Logger* logger);
  void Run();
  void Accept();
  bool Serve(int socket, Connection* connection);
  bool Answer(int socket, Connection* connection, const wire::LeaseRequest& request);
  void Drop(int socket);

  const Options options_;
  Sockets sockets_;
  runtime::Leases* const leases_;
  telemetry::Logger* const logger_;
  telemetry::LogLimiter refusals_{/*per_second=*/0.2, /*burst=*/1};
  std::map<int, std::unique_ptr<Connection>> connections_;  // By socket; of the thread.
  std::thread thread_;
};

}  // namespace shoal::service
