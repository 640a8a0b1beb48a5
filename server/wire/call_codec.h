#pragma once

#include "absl/status/statusor.h"
#include "server/plan/call.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::wire {

/// What a call may ask for, beyond what its message says.
struct CallLimits {
  int64_t inline_bytes_max = 0;  ///< In all arguments together.
  int32_t arguments_max = 0;
  bool may_stream = false;  ///< Streamed arguments are legal: ApplyStream.
};

/// The call that `request` asks for. Inline bytes are views into `request`, which must outlive it.
///
/// Errors:
///   INVALID_ARGUMENT    bad specs, bytes that are not as many as the spec says, wrong arity,
///                       unknown, repeated or missing parameters, neither op nor program.
///   UNIMPLEMENTED       no such op (the message lists those there are); a program.
///   RESOURCE_EXHAUSTED  more inline bytes than the limit.
absl::StatusOr<plan::Call> DecodeCall(const v1::ApplyRequest& request, const CallLimits& limits);

/// The number on the wire, ROUTE_UNSPECIFIED included. Errors: INVALID_ARGUMENT.
absl::StatusOr<plan::Route> DecodeRoute(int number);

}  // namespace shoal::wire
