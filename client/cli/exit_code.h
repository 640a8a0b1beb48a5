#pragma once

#include <string>

#include "absl/status/status.h"

namespace shoal::cli {

/// What `shoal` ends with. Scripts may test these; they do not change.
enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,      ///< Anything not named below.
  kUsage = 2,        ///< The command line is wrong; nothing was done.
  kNotFound = 3,     ///< An array or a file that was named does not exist.
  kUnavailable = 4,  ///< No server, a server that is draining, or a timeout: try again later.
};

/// INVALID_ARGUMENT that the command line is to blame for.
absl::Status UsageError(const std::string& message);

ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace shoal::cli
