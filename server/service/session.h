#pragma once

#include <memory>

#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// ComputeService.Session: many tasks on one stream.
///
/// Results leave at once when the stream is idle; what ends while a message is on its way leaves
/// together in the next one.
std::unique_ptr<transport::StreamHandler> NewSession(runtime::Engine* engine,
                                                     transport::StreamCall* call);

}  // namespace shoal::service
