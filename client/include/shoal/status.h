#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace shoal {

/// What the server adds to an error. Every failed call's status carries the server's code and
/// message, and its `google.rpc` details as payloads under their type URLs
/// ("type.googleapis.com/google.rpc.ErrorInfo", ...), which these functions read.

/// A word that programs may test, like "ARRAY_NOT_FOUND". Empty: the error has none.
std::string ErrorReason(const absl::Status& status);

/// The named facts beside the reason, like {"needed_bytes", "1024"}.
std::map<std::string, std::string> ErrorMetadata(const absl::Status& status);

/// After how long the server wishes to be asked again. Absent: it did not say.
std::optional<std::chrono::nanoseconds> RetryDelay(const absl::Status& status);

/// A fault of the request: which field, and what is wrong with it.
struct FieldViolation {
  std::string field = {};
  std::string description = {};
};
std::vector<FieldViolation> FieldViolations(const absl::Status& status);

/// The error in one line for a person: code, message, reason.
std::string DescribeError(const absl::Status& status);

}  // namespace shoal
