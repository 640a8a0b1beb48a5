#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "bench/ceilings/slots.h"

namespace shoal::bench {

using ByteStreamReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

/// Serves one payload in chunks: gathers it into its slot, cut-through where it is returned.
/// Deletes itself when the call is over.
ByteStreamReactor* NewPayloadStream(Slots* slots);

/// Returns each message as it is, in order. Deletes itself when the call is over.
ByteStreamReactor* NewMessageStream();

}  // namespace shoal::bench
