#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/process/child.h"

namespace shoal::bench {

/// A ceiling's server in a process of its own, so that its processor time and memory can be told
/// from the client's, as Shoal's can.
struct CeilingServer {
  std::unique_ptr<Child> child;
  std::string address;  ///< As Socket::Connect or gRPC understands it, by kind.
};

struct CeilingServerOptions {
  std::string kind;   ///< "raw", "signal", "grpc".
  std::string plane;  ///< "tcp" or "unix".
};

/// Starts this program again as `serve-ceiling`, and waits until it listens.
///
/// Errors:
///   UNAVAILABLE, DEADLINE_EXCEEDED  it did not come up.
absl::StatusOr<CeilingServer> StartCeilingServer(const CeilingServerOptions& options);

/// The body of `shoal-bench serve-ceiling`: prints its address, serves, ends when standard input
/// does. Returns the exit status.
int ServeCeiling(const CeilingServerOptions& options);

}  // namespace shoal::bench
