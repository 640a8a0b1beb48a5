#pragma once

#include <string>

#include "absl/status/status.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::transport {

/// How a call ended, as a peer tells it: the canonical code (what is none is UNKNOWN), the message,
/// and an encoded v1.RpcStatus, whose details become payloads under their type URLs. Empty or
/// malformed details are none.
absl::Status PeerStatus(int code, const std::string& message, const std::string& details);

/// A status that travelled inside a message.
absl::Status FromTaskStatus(const v1::TaskStatus& status);

}  // namespace shoal::transport
