#pragma once

#include <vector>

#include "server/runtime/engine.h"
#include "server/service/cluster_service.h"
#include "server/transport/call.h"

namespace shoal::service {

/// Everything the front end offers. Borrows both.
std::vector<transport::ServiceTable> AllServices(runtime::Engine* engine, const ServerFacts* facts);

}  // namespace shoal::service
