#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/transport/call.h"
#include "server/transport/grpc/call_count.h"

namespace shoal::transport {

/// Starts a handler of `factory` on a streaming gRPC call; gRPC owns the result until its OnDone.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartStreamCall(
    const StreamHandlerFactory& factory, grpc::CallbackServerContext* context, CallCount* calls);

}  // namespace shoal::transport
