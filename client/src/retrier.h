#pragma once

#include "client/src/backoff.h"
#include "client/src/shutdown.h"

namespace shoal::internal {

/// Waits between the attempts of one API call.
///
///     for (Retrier retrier(policy, env);;) {
///       absl::Status status = Attempt();
///       if (status.ok() || !retrier.Again(status)) return status;
///     }
class Retrier {
 public:
  Retrier(const RetryPolicy& policy, const CallEnv& env);

  /// True: after a wait, the call may be made once more. False: `error` is the answer.
  bool Again(const absl::Status& error, bool can_resume = false);
  void Progressed() { schedule_.Progressed(); }

 private:
  BackoffSchedule schedule_;
  const CallEnv& env_;
};

}  // namespace shoal::internal
