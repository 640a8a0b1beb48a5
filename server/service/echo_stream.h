#pragma once

#include <memory>

#include "server/plan/call.h"
#include "server/runtime/engine.h"
#include "server/service/stream_task.h"

namespace shoal::service {

/// Whether the call is an echo of one streamed array that goes back to the caller.
bool IsStreamedEcho(const plan::Call& call);

/// Passes such a call's chunks on as they come: from the front end's receive buffers, from the
/// shards where they landed, or through a kernel on the worker that holds them.
///
/// At most `credit_chunks` chunks wait to be sent; then no more is read.
std::shared_ptr<StreamTask> NewEchoTask(runtime::Engine* engine, transport::StreamCall* call);

}  // namespace shoal::service
