#pragma once

namespace shoal {

/// Prints `message` with its place to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* message) noexcept;

}  // namespace shoal

/// Ends the process when `condition` is false; on in every build.
///
/// Only for faults of our own code. What a peer, a user or a device can cause
/// is an `absl::Status`.
#define SHOAL_CHECK(condition)                                               \
  do {                                                                       \
    if (!(condition)) [[unlikely]] {                                         \
      ::shoal::CheckFailed(__FILE__, __LINE__, "check failed: " #condition); \
    }                                                                        \
  } while (false)

/// Marks a place that a total switch never reaches.
#define SHOAL_UNREACHABLE(message) ::shoal::CheckFailed(__FILE__, __LINE__, message)
