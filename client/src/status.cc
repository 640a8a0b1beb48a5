#include "shoal/status.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "shoal/v1/details.pb.h"

namespace shoal {
namespace {

constexpr char kPrefix[] = "type.googleapis.com/google.rpc.";

/// The detail of that type, or nothing if the status has none that can be read.
template <typename Detail>
std::optional<Detail> FindDetail(const absl::Status& status, absl::string_view type) {
  const absl::optional<absl::Cord> payload = status.GetPayload(absl::StrCat(kPrefix, type));
  if (!payload.has_value()) return std::nullopt;
  Detail detail;
  if (!detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

}  // namespace

std::string ErrorReason(const absl::Status& status) {
  const auto info = FindDetail<v1::ErrorInfo>(status, "ErrorInfo");
  return info.has_value() ? info->reason() : std::string();
}

std::map<std::string, std::string> ErrorMetadata(const absl::Status& status) {
  const auto info = FindDetail<v1::ErrorInfo>(status, "ErrorInfo");
  if (!info.has_value()) return {};
  return {info->metadata().begin(), info->metadata().end()};
}

std::optional<std::chrono::nanoseconds> RetryDelay(const absl::Status& status) {
  const auto info = FindDetail<v1::RetryInfo>(status, "RetryInfo");
  if (!info.has_value()) return std::nullopt;
  // A peer's number: kept below a day, so that sums with it cannot overflow.
  constexpr int64_t kSecondsMax = 86'400;
  const int64_t seconds =
      std::min(std::max<int64_t>(info->retry_delay().seconds(), 0), kSecondsMax);
  const int32_t nanos = std::max(info->retry_delay().nanos(), 0);
  return std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos);
}

std::vector<FieldViolation> FieldViolations(const absl::Status& status) {
  std::vector<FieldViolation> violations;
  const auto request = FindDetail<v1::BadRequest>(status, "BadRequest");
  if (!request.has_value()) return violations;
  for (const auto& violation : request->field_violations()) {
    violations.push_back({violation.field(), violation.description()});
  }
  return violations;
}

std::string DescribeError(const absl::Status& status) {
  if (status.ok()) return "OK";
  std::string text = absl::StrCat(absl::StatusCodeToString(status.code()), ": ",
                                  absl::string_view(status.message()));
  const std::string reason = ErrorReason(status);
  if (!reason.empty()) absl::StrAppend(&text, " [", reason, "]");
  return text;
}

}  // namespace shoal
