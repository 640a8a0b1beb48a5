#pragma once

#include <google/protobuf/duration.pb.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/time.h"
#include "shoal/v1/compute.pb.h"

// Builds statuses whose standard details reach the client: payloads under google.rpc type URLs.

namespace shoal::wire {

/// Adds ErrorInfo{reason, domain "shoal", metadata}. `reason` is an UPPER_SNAKE word.
absl::Status WithReason(absl::Status status, absl::string_view reason,
                        const std::vector<std::pair<std::string, std::string>>& metadata = {});

/// Adds RetryInfo: the call may be sent again after `delay`.
absl::Status WithRetryAfter(absl::Status status, Duration delay);

/// Adds BadRequest naming one field, by its path in the request ("arguments[1].spec.shape").
absl::Status WithBadField(absl::Status status, absl::string_view field);

/// INVALID_ARGUMENT "field: what", WithBadField.
absl::Status BadField(absl::string_view field, absl::string_view what);

/// Adds QuotaFailure: `subject` ("queued tasks") is used up.
absl::Status WithQuota(absl::Status status, absl::string_view subject);

/// Adds ResourceInfo: which array, task or worker it is about.
absl::Status WithResource(absl::Status status, absl::string_view type, absl::string_view name);

/// A duration as the well-known type has it: whole seconds and the rest, of the same sign.
void EncodeDuration(Duration duration, google::protobuf::Duration* message);

/// The status as a message carries it; details included. `status` is not OK.
v1::TaskStatus ToTaskStatus(const absl::Status& status);

}  // namespace shoal::wire
