#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "bench/subject.h"
#include "bench/sweep/workload.h"

namespace shoal::bench {

/// How a burst of calls is made.
struct BurstShape {
  int calls = 1;      ///< Of each caller.
  int in_flight = 1;  ///< Of each caller, at once; a lane that cannot overlap calls takes one.
  bool keep = true;   ///< Call::keep.
};

/// What a burst came to. CPU time is spent between its first call and its last reply.
struct BurstResult {
  Duration wall{};  ///< First call started to last reply complete.
  Duration sent{};  ///< First call started to last call handed over.
  Duration client_cpu{};
  std::optional<Duration> server_cpu;  ///< Nothing where no process is known to serve.
  std::vector<Duration> latencies;     ///< Of every call of every caller.
  int64_t wrong = 0;
};

/// Callers of one subject, each with a lane, buffers for a burst, and, if they are several, a
/// thread.
///
/// A burst has three parts, and only the second is timed: fresh random payloads are made, the
/// calls are made, and every reply is compared with what it must be.
///
/// Thread-safety: one thread at a time.
class Crew {
 public:
  /// Opens `callers` lanes. `subject` outlives the crew.
  static absl::StatusOr<std::unique_ptr<Crew>> Create(Subject* subject, int callers);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  /// Allocates what bursts of `shape` need. `workload` is kept by reference.
  ///
  /// Errors: RESOURCE_EXHAUSTED, or the lane's.
  absl::Status Prepare(const Workload* workload, const BurstShape& shape);

  /// Errors: of the first call that failed.
  absl::StatusOr<BurstResult> Burst();

  Subject* subject() const { return subject_; }
  int caller_count() const { return static_cast<int>(callers_.size()); }

 private:
  class Caller;

  explicit Crew(Subject* subject);
  absl::StatusOr<BurstResult> BurstAlone();
  absl::StatusOr<BurstResult> BurstTogether();
  BurstResult Collect() const;

  Subject* subject_;
  std::vector<std::unique_ptr<Caller>> callers_;
};

}  // namespace shoal::bench
