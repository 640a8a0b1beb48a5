#pragma once

#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// shoal.v1.ArrayService.
transport::ServiceTable ArrayService(runtime::Engine* engine);

}  // namespace shoal::service
