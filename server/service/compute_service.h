#pragma once

#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// shoal.v1.ComputeService.
transport::ServiceTable ComputeService(runtime::Engine* engine);

}  // namespace shoal::service
