#include "server/wire/status_details.h"

#include <chrono>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "shoal/v1/details.pb.h"

namespace shoal::wire {
namespace {

constexpr absl::string_view kTypePrefix = "type.googleapis.com/";

template <typename Detail>
absl::Status With(absl::Status status, absl::string_view type, const Detail& detail) {
  status.SetPayload(absl::StrCat(kTypePrefix, "google.rpc.", type),
                    absl::Cord(detail.SerializeAsString()));
  return status;
}

}  // namespace

absl::Status WithReason(absl::Status status, absl::string_view reason,
                        const std::vector<std::pair<std::string, std::string>>& metadata) {
  v1::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain("shoal");
  for (const auto& [key, value] : metadata) (*info.mutable_metadata())[key] = value;
  return With(std::move(status), "ErrorInfo", info);
}

absl::Status WithRetryAfter(absl::Status status, Duration delay) {
  v1::RetryInfo info;
  EncodeDuration(delay, info.mutable_retry_delay());
  return With(std::move(status), "RetryInfo", info);
}

absl::Status WithBadField(absl::Status status, absl::string_view field) {
  v1::BadRequest request;
  auto* violation = request.add_field_violations();
  violation->set_field(std::string(field));
  violation->set_description(std::string(status.message()));
  return With(std::move(status), "BadRequest", request);
}

absl::Status BadField(absl::string_view field, absl::string_view what) {
  return WithBadField(absl::InvalidArgumentError(absl::StrCat(field, ": ", what)), field);
}

absl::Status WithQuota(absl::Status status, absl::string_view subject) {
  v1::QuotaFailure failure;
  auto* violation = failure.add_violations();
  violation->set_subject(std::string(subject));
  violation->set_description(std::string(status.message()));
  return With(std::move(status), "QuotaFailure", failure);
}

absl::Status WithResource(absl::Status status, absl::string_view type, absl::string_view name) {
  v1::ResourceInfo info;
  info.set_resource_type(std::string(type));
  info.set_resource_name(std::string(name));
  return With(std::move(status), "ResourceInfo", info);
}

void EncodeDuration(Duration duration, google::protobuf::Duration* message) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  message->set_seconds(seconds.count());
  message->set_nanos(static_cast<int32_t>((duration - seconds).count()));
}

v1::TaskStatus ToTaskStatus(const absl::Status& status) {
  v1::TaskStatus message;
  message.set_code(static_cast<int32_t>(status.code()));
  message.set_message(std::string(status.message()));
  status.ForEachPayload([&message](absl::string_view type_url, const absl::Cord& payload) {
    if (!absl::StartsWith(type_url, kTypePrefix)) return;
    auto* detail = message.add_details();
    detail->set_type_url(std::string(type_url));
    detail->set_value(std::string(payload));
  });
  return message;
}

}  // namespace shoal::wire
