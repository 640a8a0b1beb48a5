#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace shoal::bench {

/// Serves bench/ceilings/ceiling.proto on a free loopback port ("tcp") or a fresh abstract Unix
/// name ("unix") with the settings that Shoal's server has, until the process ends. `announce` is
/// told the address.
///
/// Errors: UNAVAILABLE  it could not listen.
absl::Status ServeGrpc(const std::string& plane,
                       const std::function<void(const std::string&)>& announce);

}  // namespace shoal::bench
