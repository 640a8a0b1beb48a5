#pragma once

#include <vector>

#include "server/transport/call.h"

namespace shoal::service {

/// TaskService and WorkerService: every call answers UNIMPLEMENTED and says what to use instead.
std::vector<transport::ServiceTable> UnbuiltServices();

}  // namespace shoal::service
