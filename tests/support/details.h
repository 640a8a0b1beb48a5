#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "shoal/v1/details.pb.h"

namespace shoal::support {

/// The detail of that kind ("ErrorInfo") that hangs on `status`, parsed; nothing if there is none.
template <typename Detail>
std::optional<Detail> DetailOf(const absl::Status& status) {
  const std::string name = Detail::descriptor()->name();
  const auto payload = status.GetPayload(absl::StrCat("type.googleapis.com/google.rpc.", name));
  Detail detail;
  if (!payload.has_value() || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

/// The field that a BadRequest names; "" if there is none.
inline std::string BadField(const absl::Status& status) {
  const auto request = DetailOf<v1::BadRequest>(status);
  return request.has_value() ? request->field_violations(0).field() : "";
}

/// The reason of the ErrorInfo; "" if there is none.
inline std::string ReasonOf(const absl::Status& status) {
  const auto info = DetailOf<v1::ErrorInfo>(status);
  return info.has_value() ? info->reason() : "";
}

}  // namespace shoal::support
