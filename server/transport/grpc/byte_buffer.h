#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "server/transport/call.h"

namespace shoal::transport {

/// The message that `buffer` holds, without copying it.
Message ToMessage(const grpc::ByteBuffer& buffer);

/// A buffer that references the payloads of `frame` and owns its head.
grpc::ByteBuffer ToByteBuffer(Frame frame);

}  // namespace shoal::transport
