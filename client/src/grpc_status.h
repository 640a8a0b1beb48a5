#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::internal {

/// The same code and message; details (from the trailer) become payloads under their type URLs.
absl::Status FromGrpc(const grpc::Status& status);

/// A status that travelled inside a message.
absl::Status FromTaskStatus(const v1::TaskStatus& status);

}  // namespace shoal::internal
