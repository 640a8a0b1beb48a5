#pragma once

#include <memory>

#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// ArrayService.Put: one upload.
std::unique_ptr<transport::StreamHandler> NewPutStream(runtime::Engine* engine,
                                                       transport::StreamCall* call);

}  // namespace shoal::service
