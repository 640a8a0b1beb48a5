#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "base/ids.h"
#include "base/time.h"
#include "server/core/attempt.h"

// What goes into the worker core and what comes out. Spans of events are borrowed: they need to
// live only for the call of `WorkerState::Handle`.

namespace shoal::worker {

// --- Events ---------------------------------------------------------------------------------

/// Work from the scheduler. `batch` grows by any amount with each new message of one incarnation;
/// a message whose number is not larger than the last is a repetition and is ignored.
struct AttemptsAssigned {
  uint64_t batch = 0;
  absl::Span<const core::Assignment> assignments{};
};

/// The inputs of an attempt arrived (`ok`), or cannot be had. Once for each `Fetch`.
struct InputsReady {
  AttemptId attempt{};
  bool ok = true;
};

/// Bytes of the arrays stored on this worker: an absolute figure, not a difference.
struct MemoryChanged {
  int64_t stored_bytes = 0;
};

/// Launches came to their end. Each attempt of a `Launch` ends exactly once; those of one batch
/// may be told one by one, but the lane is free only when all of them ended.
///
/// Outcomes are kOk, kFailed, kOutOfMemory, or kCancelled for one that heeded an `Interrupt`.
struct LaunchesEnded {
  absl::Span<const core::AttemptEnd> ends{};
};

/// The scheduler gives attempts up. Unknown ids are legal and ignored.
struct AttemptsDropped {
  absl::Span<const AttemptId> attempts{};
};

/// Takes no new attempts; those here run to their end. Cannot be undone.
struct Drain {};

/// Time passed. Send it at `NextWakeup`.
struct Tick {};

using Event = std::variant<AttemptsAssigned, LaunchesEnded, InputsReady, MemoryChanged,
                           AttemptsDropped, Drain, Tick>;

// --- Actions --------------------------------------------------------------------------------

/// Bring the inputs of an attempt here, then send `InputsReady`.
struct Fetch {
  AttemptId attempt{};
  uint64_t tag = 0;
  int32_t piece = 0;

  friend bool operator==(const Fetch&, const Fetch&) = default;
};

/// Run an attempt.
struct Launch {
  AttemptId attempt{};
  uint64_t tag = 0;
  int32_t piece = 0;

  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Run `launches[begin]` to `launches[begin + count - 1]` one after another on `lane`.
struct LaunchBatch {
  int32_t lane = 0;
  int32_t count = 0;
  int64_t begin = 0;

  friend bool operator==(const LaunchBatch&, const LaunchBatch&) = default;
};

/// Ask a launched attempt to end early: skip it if it has not begun, else let it poll. It may
/// also run to its end; either way it ends in `LaunchesEnded`.
struct Interrupt {
  AttemptId attempt{};
  int32_t lane = 0;

  friend bool operator==(const Interrupt&, const Interrupt&) = default;
};

/// Free the inputs that were fetched for an attempt. Once for each `InputsReady` that was ok.
struct Release {
  AttemptId attempt{};
  uint64_t tag = 0;

  friend bool operator==(const Release&, const Release&) = default;
};

/// What the driver has to do, appended to by `Handle`, in any order between the kinds.
struct Actions {
  std::vector<Fetch> fetches;
  std::vector<Launch> launches;
  std::vector<LaunchBatch> batches;  ///< Cuts `launches` into runs, one a lane; covers all of it.
  std::vector<Interrupt> interrupts;
  std::vector<Release> releases;
  std::vector<core::AttemptEnd> reports;  ///< To the scheduler: one for each assignment.

  /// Forgets the actions and keeps the storage.
  void Clear() {
    fetches.clear();
    launches.clear();
    batches.clear();
    interrupts.clear();
    releases.clear();
    reports.clear();
  }

  friend bool operator==(const Actions&, const Actions&) = default;
};

}  // namespace shoal::worker
