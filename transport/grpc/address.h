#pragma once

#include <string>

#include "absl/status/status.h"

namespace shoal::transport {

/// Refuses what gRPC would take for another address than it is: it makes up a port that is missing,
/// and takes one that is too large modulo 65536.
///
/// Accepts "host:port", "[IPv6]:port", both also after a scheme of gRPC's ("dns:///host:port"), and
/// "unix:/path".
/// Errors: INVALID_ARGUMENT.
absl::Status CheckAddress(const std::string& address);

}  // namespace shoal::transport
