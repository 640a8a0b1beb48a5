#pragma once

#include "absl/status/status.h"
#include "bench/ceilings/socket.h"

namespace shoal::bench {

/// Serves the ceilings' protocol over plain sockets, a thread a connection, until the process ends.
///
/// Errors: UNAVAILABLE  the listener broke.
absl::Status ServeRaw(const Listener& listener);

/// Answers each byte with a byte: what waking another process and being woken costs.
absl::Status ServeSignal(const Listener& listener);

}  // namespace shoal::bench
