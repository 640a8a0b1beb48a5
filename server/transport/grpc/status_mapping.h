#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace shoal::transport {

/// The same code and message. Payloads of `status` whose type URL is a protobuf one
/// ("type.googleapis.com/...") become google.rpc.Status details in the trailer; others stay here.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace shoal::transport
