#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "server/runtime/leases.h"
#include "server/telemetry/log.h"
#include "wire/lease_protocol.h"

namespace shoal::service {

/// Hands out leases on a Unix socket (wire/lease_protocol.h), on one thread that sleeps while
/// nobody asks. Leases end with the connection they were given on.
///
/// Only processes of the server's own user may connect: the socket's file says so, and each
/// connection's credentials are looked at.
class LeaseServer {
 public:
  /// Listens on `path`, which must not exist. Borrows `leases` and `logger`.
  ///
  /// Errors: UNAVAILABLE  the socket cannot be made.
  static absl::StatusOr<std::unique_ptr<LeaseServer>> Start(std::string path,
                                                            runtime::Leases* leases,
                                                            telemetry::Logger* logger);
  ~LeaseServer();

 private:
  struct Connection;

  struct Sockets {
    std::string path;
    int listener;
    int wake;  // An eventfd: time to stop.
  };

  LeaseServer(Sockets sockets, runtime::Leases* leases, telemetry::Logger* logger);
  void Run();
  void Accept();
  bool Serve(int socket, Connection* connection);
  bool Answer(int socket, Connection* connection, const wire::LeaseRequest& request);
  void Drop(int socket);

  const Sockets sockets_;
  runtime::Leases* const leases_;
  telemetry::Logger* const logger_;
  std::map<int, std::unique_ptr<Connection>> connections_;  // By socket; of the thread.
  std::thread thread_;
};

}  // namespace shoal::service
