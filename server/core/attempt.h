#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/time.h"

namespace shoal::core {

/// How one attempt ended, as its worker tells it.
enum class AttemptOutcome : uint8_t {
  kOk,                ///< It ran to its end.
  kFailed,            ///< The op failed; the driver keeps the message under the attempt's id.
  kOutOfMemory,       ///< The device had less memory than the reservation promised.
  kCancelled,         ///< Dropped on request, before or while it ran.
  kDeadlineExceeded,  ///< Its deadline passed on the worker.
  kRefused,           ///< Never started: the worker drains and takes nothing new.
};

/// Whether the attempt went wrong, and was not just given up or turned away.
constexpr bool HasFailed(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::kFailed:
    case AttemptOutcome::kOutOfMemory:
      return true;
    case AttemptOutcome::kOk:
    case AttemptOutcome::kCancelled:
    case AttemptOutcome::kDeadlineExceeded:
    case AttemptOutcome::kRefused:
      return false;
  }
  return false;
}

/// One piece of a task handed to one worker: what the scheduler core emits and the worker core
/// takes, so that a driver in one process passes whole spans on without copying.
struct Assignment {
  AttemptId attempt{};
  TaskId task{};
  uint64_t tag = 0;           ///< The submitter's own word, untouched.
  int64_t reserve_bytes = 0;  ///< Device memory the execution needs beyond stored arrays.
  Duration cost{};            ///< Estimated time on the device; 0 is unknown.
  Instant deadline = kNever;
  int32_t piece = 0;          ///< Index of the piece in its task.
  bool needs_inputs = false;  ///< Inputs are fetched before the launch.

  friend bool operator==(const Assignment&, const Assignment&) = default;
};

/// The end of one attempt: what the worker core reports and the scheduler core takes.
struct AttemptEnd {
  AttemptId attempt{};
  AttemptOutcome outcome = AttemptOutcome::kOk;
  int64_t bytes = 0;  ///< Bytes of output it made; 0 unless `outcome` is kOk.

  friend bool operator==(const AttemptEnd&, const AttemptEnd&) = default;
};

}  // namespace shoal::core
