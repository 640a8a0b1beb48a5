#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/transport/server.h"

namespace shoal::transport {

/// One implementation of Server, as a row of the table of those that are built in.
struct Transport {
  absl::string_view scheme;  ///< "grpc".
  absl::StatusOr<std::unique_ptr<Server>> (*start)(const ServerOptions&, std::vector<ServiceTable>);
};

/// One place where calls may come in, and what is offered there.
struct Listener {
  std::string scheme;  ///< Of the transport that carries them.
  Endpoint endpoint;
  std::vector<std::string> services;  ///< By name; empty: all.
};

struct ServersSetup {
  absl::Span<const Transport> transports;
  std::vector<Listener> listeners;  ///< At least one.
  ServerOptions options;            ///< Of each server; the endpoints come from the listeners.
  std::vector<ServiceTable> services;
};

/// Starts a server for all listeners that have the transport and the services in common, and makes
/// one of them all: its ports are in the order of the listeners, health of a service is told where
/// the service is offered, any other name's everywhere, and a shutdown reaches all at once.
///
/// Errors: those of the transports, after which nothing listens; and
///   INVALID_ARGUMENT  a scheme that is not in the table, a service that is not among those given.
absl::StatusOr<std::unique_ptr<Server>> StartServers(const ServersSetup& setup);

}  // namespace shoal::transport
