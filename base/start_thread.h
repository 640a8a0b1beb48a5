#pragma once

#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace shoal {

/// A thread that runs `main`; where the system has no more, an error rather than std::thread's
/// exception.
///
/// Errors: RESOURCE_EXHAUSTED  `main` was not called.
absl::StatusOr<std::thread> StartThread(absl::AnyInvocable<void() &&> main);

/// Whether so many threads more can be had at the same time: for libraries that end the process
/// where one cannot. They are started, and end at once.
///
/// Errors: RESOURCE_EXHAUSTED.
absl::Status ProbeThreads(int count);

}  // namespace shoal
