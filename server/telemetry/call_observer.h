#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "base/time.h"

namespace shoal::telemetry {

/// How far a call's bytes went. The numbers are the wire's (`shoal.v1.Route`).
enum class Route : uint8_t { kFront = 1, kWorker = 2, kDevice = 3 };
/// How a call's bytes came.
enum class Plane : uint8_t { kInline, kStream, kLease, kSession };

/// Where a call's time went. Phases may overlap; unknown ones are 0.
struct PhaseTimes {
  Duration queue{};
  Duration transfer_in{};
  Duration compute{};
  Duration collective{};
  Duration transfer_out{};

  PhaseTimes& operator+=(const PhaseTimes& other) {
    queue += other.queue;
    transfer_in += other.transfer_in;
    compute += other.compute;
    collective += other.collective;
    transfer_out += other.transfer_out;
    return *this;
  }
};

/// Which rows a call counts in, beside its size.
struct CallKey {
  int32_t op = 0;  ///< Index into the names given to the throughput table.
  Route route = Route::kWorker;
  Plane plane = Plane::kInline;
};

/// One call that ended.
struct CallRecord {
  CallKey key;
  Instant begun;
  Instant ended;         ///< Filled in by who records.
  int64_t bytes_in = 0;  ///< Payload, without framing.
  int64_t bytes_out = 0;
  PhaseTimes phases;
  absl::StatusCode code = absl::StatusCode::kOk;  ///< As the caller was told.
  /// What the scheduler ran for it, one id a stage; none where it was refused before, or needed no
  /// worker. Of calls recorded together: one id each. Borrowed for the record.
  absl::Span<const TaskId> tasks;
};

/// Whoever wants to know of every call that ended: the throughput table, a history store.
///
/// Calls come from the threads that end calls, several at once, and on their way: an observer takes
/// a copy of what it needs and is done. One that writes to a disk or a network has a bounded queue
/// and a thread of its own.
///
/// Thread-safety: from any thread. Lifetime: longer than the engine's.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  /// `count` calls that were alike, >= 1: each had this record.
  virtual void OnCalls(const CallRecord& record, int64_t count) = 0;
};

}  // namespace shoal::telemetry
