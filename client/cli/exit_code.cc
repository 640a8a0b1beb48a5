#include "client/cli/exit_code.h"

#include "absl/strings/cord.h"

namespace shoal::cli {
namespace {

constexpr char kUsageUrl[] = "shoal.cli/usage";

}  // namespace

absl::Status UsageError(const std::string& message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsageUrl, absl::Cord());
  return status;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.GetPayload(kUsageUrl).has_value()) return ExitCode::kUsage;
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnavailable;
    default:
      return ExitCode::kFailure;  // Codes are the server's: more may come.
  }
}

}  // namespace shoal::cli
