#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "transport/channel.h"

namespace shoal::transport {

/// A channel by gRPC over TCP or a Unix socket. The only header of this folder that others include.
///
/// Errors:
///   INVALID_ARGUMENT  the target is no such address, or TLS is asked for on a Unix socket.
///   UNIMPLEMENTED     TLS is asked for.
absl::StatusOr<std::unique_ptr<Channel>> MakeGrpcChannel(const ChannelOptions& options);

}  // namespace shoal::transport
