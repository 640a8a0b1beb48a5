// The worker core's invariants, as numbered in docs/scheduling.md.

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/worker/worker_state.h"

namespace shoal::worker {

namespace {

absl::Status Broken(int invariant, absl::string_view what, int64_t record) {
  return absl::InternalError(
      absl::StrCat("worker invariant ", invariant, ": ", what, " (", record, ")"));
}

}  // namespace

// What the rows add up to.
struct WorkerState::Census {
  Counts counts;
  int64_t dropped = 0;
  int64_t reserved_bytes = 0;
  std::vector<int32_t> launches;  // By lane.
};

absl::Status WorkerState::ValidateRow(uint32_t index, Census* census) const {
  const Row& row = rows_[index];
  const int64_t reserved_bytes = row.assignment.reserve_bytes;
  switch (row.phase) {
    case Phase::kFree:
      if (!deadlines_.IsArmed(index) && !memory_timers_.IsArmed(index)) return absl::OkStatus();
      return Broken(5, "a timer without its attempt", index);
    case Phase::kFetching:
      ++census->counts.fetching;
      break;
    case Phase::kDropped:
      ++census->dropped;
      break;
    case Phase::kNeedsMemory:
      ++census->counts.waiting_for_memory;
      break;
    case Phase::kReady:
      ++census->counts.ready;
      census->reserved_bytes += reserved_bytes;
      break;
    case Phase::kRunning:
    case Phase::kCancelling:
      ++census->counts.running;
      ++census->launches[static_cast<size_t>(row.lane)];
      census->reserved_bytes += reserved_bytes;
      break;
  }
  if (index_.Find(row.assignment.attempt.value) != index) return Broken(1, "not indexed", index);
  const bool given_up = row.phase == Phase::kDropped || row.phase == Phase::kCancelling;
  const bool timed = row.assignment.deadline != kNever && !given_up;
  if (timed && !deadlines_.IsArmed(index)) return Broken(5, "no timer", index);
  return absl::OkStatus();
}

absl::Status WorkerState::Validate() const {
  Census census;
  census.launches.resize(lane_launches_.size());
  for (uint32_t i = 0; i < rows_.row_count(); ++i) {
    SHOAL_RETURN_IF_ERROR(ValidateRow(i, &census));
  }
  const Counts& found = census.counts;
  if (found.fetching != counts_.fetching) return Broken(2, "fetching", found.fetching);
  if (found.ready != counts_.ready) return Broken(2, "ready", found.ready);
  if (found.running != counts_.running) return Broken(2, "running", found.running);
  const int64_t waiting = found.waiting_for_memory;
  if (waiting != counts_.waiting_for_memory) return Broken(2, "waiting for memory", waiting);
  if (starved_.size() != waiting) return Broken(1, "waiting for memory", starved_.size());
  if (ready_.size() != found.ready) return Broken(1, "ready", ready_.size());
  const int64_t here = found.fetching + census.dropped + waiting + found.ready + found.running;
  if (index_.size() != here || rows_.taken_count() != here) return Broken(1, "rows", here);
  if (census.reserved_bytes != reserved_bytes_) return Broken(3, "reserved", reserved_bytes_);
  if (census.launches != lane_launches_) return Broken(4, "launches of lanes", found.running);
  for (size_t lane = 0; lane < census.launches.size(); ++lane) {
    const bool is_free = (free_lanes_ >> lane & 1) != 0;
    if (is_free != (census.launches[lane] == 0)) {
      return Broken(4, "lane", static_cast<int64_t>(lane));
    }
  }
  if (memory_timers_.armed_count() > waiting) return Broken(5, "memory timers", waiting);
  if (!ready_.empty() && free_lanes_ != 0) return Broken(6, "a lane idles", ready_.size());
  if (!starved_.empty() && HasRoom(rows_[starved_.front()].assignment.reserve_bytes)) {
    return Broken(6, "memory idles", starved_.front());
  }
  return absl::OkStatus();
}

}  // namespace shoal::worker
