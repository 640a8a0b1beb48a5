#pragma once

#include "absl/status/status.h"
#include "server/scheduler/events.h"

namespace shoal::runtime {

/// The status that a client sees for how a task ended, with its details. kFailed is the driver's
/// to tell: here it is INTERNAL.
absl::Status StatusOf(const scheduler::Finished& finished);

/// An error of ours made ready for the client: a shortage of memory carries its numbers.
absl::Status ForClient(absl::Status status);

}  // namespace shoal::runtime
