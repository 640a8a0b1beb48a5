#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/process/child.h"

namespace shoal::bench {

struct ServerOptions {
  std::string address;      ///< Of a server that runs already; empty: one is started.
  int64_t workers = 0;      ///< Of a started one; 0: its default.
  std::string extra_flags;  ///< More flags for a started one, separated by spaces.
};

/// A `shoald` to measure.
struct Server {
  std::unique_ptr<Child> child;  ///< Null for one that ran already.
  std::string address;           ///< "127.0.0.1:PORT", or as given.

  pid_t pid() const { return child == nullptr ? 0 : child->pid(); }
  /// Its resident memory before the first request; 0 if unknown.
  int64_t idle_rss_bytes = 0;
};

/// Starts the `shoald` that lies beside this program on a free port, and waits until it listens;
/// or takes the one at `options.address`.
///
/// Errors:
///   NOT_FOUND                       there is no `shoald` beside this program.
///   UNAVAILABLE, DEADLINE_EXCEEDED  it did not come up.
absl::StatusOr<Server> StartServer(const ServerOptions& options);

}  // namespace shoal::bench
