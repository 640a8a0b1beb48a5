#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/channel.h"

namespace shoal::internal {

/// A channel by the transport that the target names.
///
/// Errors:
///   INVALID_ARGUMENT  no transport knows such a target.
///   UNIMPLEMENTED     the transport is not built to do what the options ask for.
absl::StatusOr<std::unique_ptr<transport::Channel>> MakeChannel(
    const transport::ChannelOptions& options);

/// True: on the same host the server's Unix socket may take the place of such a target.
bool YieldsToUnixSocket(absl::string_view target);

}  // namespace shoal::internal
