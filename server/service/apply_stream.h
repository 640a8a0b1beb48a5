#pragma once

#include <memory>

#include "server/runtime/engine.h"
#include "server/transport/call.h"

namespace shoal::service {

/// ComputeService.ApplyStream: one call whose arrays are of any size.
///
/// An echo is passed on chunk by chunk (echo_stream.h). Any other call lands its streamed arguments
/// in the workers' memory, runs, and sends its outputs.
std::unique_ptr<transport::StreamHandler> NewApplyStream(runtime::Engine* engine,
                                                         transport::StreamCall* call);

}  // namespace shoal::service
