#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/time.h"
#include "server/service/session_codec.h"
#include "server/service/session_state.h"

namespace shoal::service {

/// A serialised SessionResult of a task that failed with `status`.
std::string FailedResult(uint64_t id, const absl::Status& status);

/// When a task that is read `now` has to be done by: its own timeout, or the session's deadline.
Instant DeadlineFor(const SessionTaskView& task, Instant now, Instant session_deadline);

/// A task that may be begun, and the ticket of its result.
struct Admitted {
  SessionTaskView task;
  uint64_t ticket = 0;
};

/// What the tasks of one batch have in common.
struct EmptyCall {
  int32_t op = 0;  ///< As the throughput table counts it.
  Instant session_deadline = kNever;
};

/// Schedules tasks that have nothing to run, with one allocation for all; each gives its result to
/// `state`. Those that still wait afterwards can be cancelled by their ids.
void SubmitEmpty(std::shared_ptr<SessionState> state, const EmptyCall& call,
                 absl::Span<const Admitted> tasks);

}  // namespace shoal::service
