#pragma once

#include <memory>

#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// ArrayService.Get: one download.
std::unique_ptr<transport::StreamHandler> NewGetStream(runtime::Engine* engine,
                                                       transport::StreamCall* call);

}  // namespace shoal::service
