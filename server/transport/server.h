#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "server/transport/call.h"
#include "transport/tls.h"
#include "wire/keepalive.h"

namespace shoal::transport {

/// One address to listen on.
struct Endpoint {
  std::string address;             ///< "HOST:PORT" (port 0 picks one) or "unix:PATH".
  std::optional<TlsMaterial> tls;  ///< Nothing: in the clear. Never on a Unix socket.
};

struct ServerOptions {
  std::vector<Endpoint> endpoints;
  int64_t message_bytes_max = 0;  ///< Of one received message; larger ones are refused.
  int32_t streams_per_connection_max = 0;
  wire::Keepalive keepalive = {};
  /// Of all addresses together; whoever comes then is hung up on.
  int64_t connections_max = INT64_MAX;
  /// That happened, or no descriptor was left. May be empty; called from a thread of the server's.
  std::function<void()> connection_refused = {};
};

/// Accepts calls and hands them to the service.
///
/// Thread-safety: all calls from any thread, but Shutdown from none of its own.
class Server {
 public:
  virtual ~Server() = default;

  /// The TCP ports in use, one an endpoint, 0 for Unix sockets.
  virtual const std::vector<int>& Ports() const = 0;

  /// What grpc.health.v1 answers for `name`; "" is the whole server.
  virtual void SetServing(const std::string& name, bool serving) = 0;

  /// Accepts nothing new, lets calls finish until `grace` is over, cancels the rest and waits for
  /// their handlers to finish them.
  virtual void Shutdown(Duration grace) = 0;
};

}  // namespace shoal::transport
