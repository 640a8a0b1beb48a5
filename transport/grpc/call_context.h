#pragma once

#include <grpc/support/time.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "transport/channel.h"
#include "transport/peer_status.h"

namespace shoal::transport {

/// The context of one call, under its terms.
///
/// Thread-safety: `Cancel` from any thread.
class CallContext final : public Cancellable {
 public:
  explicit CallContext(const CallTerms& terms) {
    if (terms.deadline.has_value()) {
      const std::chrono::nanoseconds left = *terms.deadline - std::chrono::steady_clock::now();
      context_.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                         gpr_time_from_nanos(left.count(), GPR_TIMESPAN)));
    }
    if (terms.wait_for_ready) context_.set_wait_for_ready(true);
    registration_.emplace(terms.cancellation, this);
  }

  grpc::ClientContext* get() { return &context_; }
  void Cancel() override { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::optional<Cancellation::Registration> registration_;
};

/// The same code and message; details (from the trailer) become payloads.
inline absl::Status FromGrpc(const grpc::Status& status) {
  return PeerStatus(status.error_code(), status.error_message(), status.error_details());
}

}  // namespace shoal::transport
