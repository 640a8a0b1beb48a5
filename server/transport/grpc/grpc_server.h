#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/transport/server.h"

namespace shoal::transport {

/// Listens and serves `services`, health checking (grpc.health.v1) and server reflection.
///
/// Health answers SERVING for nothing until SetServing says so.
///
/// Errors:
///   UNAVAILABLE         an address cannot be bound.
///   RESOURCE_EXHAUSTED  no descriptor, or too few threads are left for it.
///   INVALID_ARGUMENT    TLS on a Unix socket.
///   UNIMPLEMENTED       TLS, which is not built yet.
absl::StatusOr<std::unique_ptr<Server>> StartGrpcServer(const ServerOptions& options,
                                                        std::vector<ServiceTable> services);

}  // namespace shoal::transport
