#pragma once

#include <functional>
#include <string>

#include "base/time.h"
#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// What the service says about itself.
struct ServerFacts {
  std::string version;
  std::string instance_id;
  std::string unix_socket;   ///< Empty: none.
  std::string lease_socket;  ///< Empty: none.
  Instant started;
  std::function<void()> begin_drain;  ///< Health goes to NOT_SERVING.
};

/// shoal.v1.ClusterService. Borrows both.
transport::ServiceTable ClusterService(runtime::Engine* engine, const ServerFacts* facts);

/// What clients of the same host read, too: the kernel's boot id and the network namespace.
std::string HostId();

}  // namespace shoal::service
