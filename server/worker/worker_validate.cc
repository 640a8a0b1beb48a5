// The worker core's invariants, as numbered in docs/scheduling.md.

#include <bit>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/worker/worker_state.h"

namespace shoal::worker {

namespace {

absl::Status Broken(int invariant, absl::string_view what, int64_t record) {
  return absl::InternalError(
      absl::StrCat("worker invariant ", invariant, ": ", what, " (", record, ")"));
}

}  // namespace

absl::Status WorkerState::Validate() const {
  Counts found;
  int64_t dropped = 0;
  int64_t reserved = 0;
  std::vector<int32_t> launches(lane_launches_.size(), 0);
  for (uint32_t i = 0; i < rows_.row_count(); ++i) {
    const Row& row = rows_[i];
    if (row.phase == Phase::kFree) {
      if (deadlines_.IsArmed(i) || memory_timers_.IsArmed(i))
        return Broken(5, "a timer without its attempt", i);
      continue;
    }
    if (index_.Find(row.assignment.attempt.value) != i) return Broken(1, "not in the index", i);
    const bool late = row.phase == Phase::kDropped || row.phase == Phase::kCancelling;
    const bool timed = row.assignment.deadline != kNever && !late;
    if (timed && !deadlines_.IsArmed(i)) return Broken(5, "no timer", i);
    switch (row.phase) {
      case Phase::kFetching:
        ++found.fetching;
        break;
      case Phase::kDropped:
        ++dropped;
        break;
      case Phase::kNeedsMemory:
        ++found.waiting_for_memory;
        break;
      case Phase::kReady:
        ++found.ready;
        reserved += row.assignment.reserve_bytes;
        break;
      case Phase::kRunning:
      case Phase::kCancelling:
        ++found.running;
        ++launches[static_cast<size_t>(row.lane)];
        reserved += row.assignment.reserve_bytes;
        break;
      case Phase::kFree:
        break;
    }
  }
  if (found.fetching != counts_.fetching) return Broken(2, "fetching", counts_.fetching);
  if (found.waiting_for_memory != counts_.waiting_for_memory)
    return Broken(2, "waiting", found.ready);
  if (found.ready != counts_.ready) return Broken(2, "ready", counts_.ready);
  if (found.running != counts_.running) return Broken(2, "running", counts_.running);
  if (starved_.size() != found.waiting_for_memory) return Broken(1, "starved", starved_.size());
  if (ready_.size() != found.ready) return Broken(1, "ready", ready_.size());
  const int64_t here =
      found.fetching + dropped + found.waiting_for_memory + found.ready + found.running;
  if (index_.size() != here || rows_.taken_count() != here) return Broken(1, "rows", here);
  if (reserved != reserved_bytes_) return Broken(3, "reserved bytes", reserved_bytes_);
  if (launches != lane_launches_) return Broken(4, "launches of the lanes", found.running);
  for (size_t lane = 0; lane < launches.size(); ++lane) {
    const bool is_free = (free_lanes_ >> lane & 1) != 0;
    if (is_free != (launches[lane] == 0)) return Broken(4, "a lane", static_cast<int64_t>(lane));
  }
  if (!ready_.empty() && free_lanes_ != 0) return Broken(6, "a lane idles", ready_.size());
  if (memory_timers_.armed_count() > found.waiting_for_memory) return Broken(5, "memory timers", 0);
  if (!starved_.empty() && HasRoom(rows_[starved_.front()].assignment.reserve_bytes)) {
    return Broken(6, "memory idles", starved_.front());
  }
  return absl::OkStatus();
}

}  // namespace shoal::worker
