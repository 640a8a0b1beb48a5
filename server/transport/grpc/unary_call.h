#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <optional>

#include "server/transport/call.h"
#include "server/transport/grpc/call_count.h"

namespace shoal::transport {

/// Where a unary call goes, and where it is counted. Borrowed.
struct UnaryTarget {
  const UnaryHandler* handler;
  CallCount* calls;
};

/// Starts the handler on a unary gRPC call; gRPC owns the result until its OnDone.
grpc::ServerUnaryReactor* StartUnaryCall(const UnaryTarget& target,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response);

/// Time left of a gRPC call, nothing if it has no deadline.
std::optional<Duration> TimeLeftOf(const grpc::ServerContextBase& context);

}  // namespace shoal::transport
