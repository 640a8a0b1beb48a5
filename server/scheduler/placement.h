#pragma once

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "base/time.h"

namespace shoal::scheduler {

/// What a placement policy sees of a worker.
struct WorkerLoad {
  bool open = false;       ///< May get a floating piece now: alive, not draining, slots left.
  Duration work{};         ///< Estimated work in flight.
  int32_t attempts = 0;    ///< Attempts in flight.
  int64_t free_bytes = 0;  ///< Memory for further pieces; negative when overdrawn.
};

/// What a placement policy sees of a floating piece.
struct PieceNeeds {
  int64_t reserve_bytes = 0;
  Duration cost{};
};

/// Whether a piece may be reserved for: one that needs no memory always may, even on a worker
/// whose stored arrays overdrew it.
constexpr bool Fits(int64_t reserve_bytes, int64_t free_bytes) {
  return reserve_bytes == 0 || reserve_bytes <= free_bytes;
}

/// Where floating pieces go: the seam for scheduling policies.
///
/// A policy is deterministic: its answer depends only on the calls made before. A new one is a new
/// file and a row in `PlacementPolicies` (placement_table.cc).
///
/// Ownership: owned by the scheduler core. Thread-safety: none needed, the core has one thread.
class Placement {
 public:
  virtual ~Placement() = default;

  /// The figures of `worker` are now `load`. Comes before every `Choose` that could see them;
  /// workers never named are not open.
  virtual void Update(WorkerId worker, const WorkerLoad& load) = 0;

  /// An open worker on which the piece fits, or kAnyWorker when there is none. The core
  /// places the piece there and says so by `Update`, or closes the worker and asks again.
  virtual WorkerId Choose(const PieceNeeds& piece) = 0;
};

/// One row of the table of policies.
struct PlacementPolicy {
  absl::string_view name;  ///< As in configuration: "least_load".
  std::unique_ptr<Placement> (*make)();
};

/// Every policy built in; the first is the default.
absl::Span<const PlacementPolicy> PlacementPolicies();

/// A new policy of that name, or null when there is none.
std::unique_ptr<Placement> MakePlacement(absl::string_view name);

}  // namespace shoal::scheduler
