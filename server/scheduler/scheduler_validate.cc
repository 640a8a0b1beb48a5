// The scheduler core's invariants, as numbered in docs/scheduling.md.

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/scheduler/scheduler_state.h"

namespace shoal::scheduler {

using core::kNone;

namespace {

constexpr size_t kStateCount = 8;

absl::Status Broken(int invariant, absl::string_view what, int64_t record) {
  return absl::InternalError(
      absl::StrCat("scheduler invariant ", invariant, ": ", what, " (", record, ")"));
}

}  // namespace

// What the rows and workers add up to.
struct SchedulerState::Census {
  std::array<int64_t, kStateCount> rows{};  // By state.
  int64_t tasks = 0;
  int64_t waiting_bytes = 0;
  int64_t deadlines = 0;
  int64_t memory_timers = 0;
  int64_t pinned = 0;
  int64_t attempts = 0;
  int64_t alive = 0;
  int64_t accepting = 0;
  int64_t memory_max = 0;

  int64_t Of(PieceState state) const { return rows[static_cast<size_t>(state)]; }
};

absl::Status SchedulerState::Validate() const {
  Census census;
  for (uint32_t i = 0; i < rows_.row_count(); ++i) {
    SHOAL_RETURN_IF_ERROR(ValidateRow(i, &census));
  }
  for (int32_t i = 0; i < static_cast<int32_t>(workers_.size()); ++i) {
    SHOAL_RETURN_IF_ERROR(ValidateWorker(i, &census));
  }
  SHOAL_RETURN_IF_ERROR(ValidateList(light_, PieceState::kFloating));
  SHOAL_RETURN_IF_ERROR(ValidateList(heavy_, PieceState::kFloating));
  SHOAL_RETURN_IF_ERROR(ValidateList(parked_, PieceState::kParked));

  const int64_t waiting = census.Of(PieceState::kFloating) + census.Of(PieceState::kParked) +
                          census.Of(PieceState::kPinned);
  const int64_t in_flight = census.Of(PieceState::kAssigned) + census.Of(PieceState::kStopping);
  const int64_t floating = light_.size() + heavy_.size();
  if (floating != census.Of(PieceState::kFloating)) return Broken(1, "floating", floating);
  if (parked_.size() != census.Of(PieceState::kParked)) return Broken(1, "parked", waiting);
  if (census.pinned != census.Of(PieceState::kPinned)) return Broken(1, "pinned", waiting);
  if (census.attempts != in_flight) return Broken(1, "attempts", in_flight);
  if (census.Of(PieceState::kNew) != 0) return Broken(1, "a piece is nowhere", 0);
  if (counts_.tasks != census.tasks) return Broken(6, "tasks", census.tasks);
  if (counts_.waiting != waiting) return Broken(6, "waiting", waiting);
  if (counts_.waiting_bytes != census.waiting_bytes) {
    return Broken(6, "bytes", counts_.waiting_bytes);
  }
  if (counts_.parked != parked_.size()) return Broken(6, "parked", counts_.parked);
  if (counts_.in_flight != in_flight) return Broken(6, "in flight", in_flight);
  if (counts_.stopping != census.Of(PieceState::kStopping)) {
    return Broken(6, "stopping", counts_.stopping);
  }
  if (counts_.workers != census.alive) return Broken(6, "workers", counts_.workers);
  if (accepting_ != census.accepting) return Broken(6, "accepting", accepting_);
  if (memory_max_ != census.memory_max) return Broken(6, "largest memory", memory_max_);
  if (deadlines_.armed_count() != census.deadlines) return Broken(7, "deadlines", census.deadlines);
  if (memory_timers_.armed_count() != census.memory_timers) return Broken(7, "memory timers", 0);
  if (parked_.size() > kParkedMax) return Broken(8, "too many aside", parked_.size());
  return ValidateWorkConserved();
}

absl::Status SchedulerState::ValidateRow(uint32_t index, Census* census) const {
  const PieceRow& row = rows_[index];
  ++census->rows[static_cast<size_t>(row.state)];
  const bool timed = memory_timers_.IsArmed(index);
  if (timed != (row.state != PieceState::kFree && row.waits_for_stored)) {
    return Broken(7, "a memory timer without its piece", index);
  }
  census->memory_timers += timed ? 1 : 0;
  const bool waits = row.state == PieceState::kFloating || row.state == PieceState::kParked ||
                     row.state == PieceState::kPinned;
  if (waits) census->waiting_bytes += row.reserve_bytes;
  if (row.state == PieceState::kFree) return absl::OkStatus();
  const bool in_flight = row.state == PieceState::kAssigned || row.state == PieceState::kStopping;
  if (in_flight && row.pinned >= 0 && row.worker != row.pinned) {
    return Broken(2, "a pinned piece runs elsewhere", index);
  }
  if (row.state == PieceState::kStopping) return absl::OkStatus();  // Its task is no more.
  if (FindTask(TaskIdOf(row.head)) != row.head) return Broken(4, "a piece without its task", index);
  if (row.head != index) return absl::OkStatus();
  ++census->tasks;
  census->deadlines += row.has_deadline ? 1 : 0;
  return ValidateTask(index);
}

absl::Status SchedulerState::ValidateTask(uint32_t head) const {
  int32_t unfinished = 0;
  int32_t index = 0;
  for (uint32_t row = head; row != kNone; row = rows_[row].next) {
    const PieceRow& piece = rows_[row];
    if (piece.head != head || piece.index != index++) return Broken(4, "pieces out of line", head);
    if (piece.state == PieceState::kFree || piece.state == PieceState::kStopping) {
      return Broken(4, "a live task with an ended piece", head);
    }
    if (piece.state != PieceState::kDone) ++unfinished;
    if (piece.losses > options_.retries_max) return Broken(5, "too many retries", head);
  }
  if (rows_[head].unfinished != unfinished) return Broken(4, "unfinished pieces", head);
  if (unfinished == 0) return Broken(4, "every piece ended, the task did not", head);
  if (rows_[head].has_deadline != deadlines_.IsArmed(head)) return Broken(7, "deadline", head);
  if (rows_[head].has_deadline != (rows_[head].deadline != kNever)) {
    return Broken(7, "deadline", head);
  }
  return absl::OkStatus();
}

absl::Status SchedulerState::ValidateList(const PieceList& list, PieceState state) const {
  int64_t count = 0;
  uint32_t previous = kNone;
  for (uint32_t row = list.front(); row != kNone; row = rows_[row].link.next) {
    const PieceRow& piece = rows_[row];
    if (piece.state != state) return Broken(1, "state and list disagree", row);
    if (piece.link.previous != previous) return Broken(1, "a link points astray", row);
    const bool in_order = state == PieceState::kParked || previous == kNone ||
                          rows_[previous].sequence < piece.sequence;
    if (!in_order) return Broken(8, "a queue is out of order", row);
    previous = row;
    if (++count > list.size()) break;
  }
  if (list.back() != previous || count != list.size()) return Broken(1, "a list is cut", count);
  return absl::OkStatus();
}

absl::Status SchedulerState::ValidateWorker(int32_t index, Census* census) const {
  const WorkerRow& worker = workers_[AsIndex(index)];
  SHOAL_RETURN_IF_ERROR(ValidateList(worker.pinned, PieceState::kPinned));
  census->pinned += worker.pinned.size();
  census->attempts += worker.attempts.size();
  if (worker.touched) return Broken(9, "a worker is still to be looked at", index);
  if (!worker.alive) {
    const bool empty = worker.attempts.empty() && worker.pinned.empty();
    return empty ? absl::OkStatus() : Broken(2, "pieces on a lost worker", index);
  }
  int64_t reserved = 0;
  Duration work{};
  for (uint32_t row = worker.attempts.front(); row != kNone; row = rows_[row].link.next) {
    const PieceRow& piece = rows_[row];
    const bool in_flight =
        piece.state == PieceState::kAssigned || piece.state == PieceState::kStopping;
    if (!in_flight || piece.worker != index) return Broken(2, "an attempt is elsewhere", row);
    reserved += piece.reserve_bytes;
    work += CostOf(piece);
  }
  if (worker.reserved_bytes != reserved || worker.work != work) return Broken(3, "load", index);
  ++census->alive;
  if (worker.TakesFloating()) {
    ++census->accepting;
    census->memory_max = std::max(census->memory_max, worker.memory_bytes);
  }
  return absl::OkStatus();
}

// Whether rule and room would let a floating piece onto the worker.
bool SchedulerState::MayTakeFloating(int32_t worker_index, uint32_t row) const {
  const WorkerRow& worker = workers_[AsIndex(worker_index)];
  if (!worker.TakesFloating() || !worker.HasSlot()) return false;
  if (!Fits(rows_[row].reserve_bytes, worker.free_bytes())) return false;
  if (rows_[row].IsLight()) return true;
  if (worker_index == held_worker_ && row != held_for_) return false;
  if (worker.held_for_pinned) return false;
  if (worker.pinned.empty()) return true;
  const PieceRow& oldest = rows_[worker.pinned.front()];
  return oldest.sequence > rows_[row].sequence || !worker.FitsWhenIdle(oldest.reserve_bytes);
}

absl::Status SchedulerState::ValidateWorkConserved() const {
  for (int32_t i = 0; i < static_cast<int32_t>(workers_.size()); ++i) {
    const WorkerRow& worker = workers_[AsIndex(i)];
    for (uint32_t row = parked_.front(); row != kNone; row = rows_[row].link.next) {
      if (MayTakeFloating(i, row)) return Broken(9, "a parked piece could start", row);
    }
    const uint32_t next = NextFloating();
    if (next != kNone && MayTakeFloating(i, next)) return Broken(9, "a piece could start", next);
    if (worker.held_for_pinned &&
        (worker.pinned.empty() ||
         !worker.FitsWhenIdle(rows_[worker.pinned.front()].reserve_bytes))) {
      return Broken(8, "held for nothing", i);
    }
    if (worker.pinned.empty() || !worker.HasSlot()) continue;
    const PieceRow& oldest = rows_[worker.pinned.front()];
    const bool behind_hold =
        i == held_worker_ && !oldest.IsLight() && rows_[held_for_].sequence < oldest.sequence;
    if (Fits(oldest.reserve_bytes, worker.free_bytes()) && !behind_hold) {
      return Broken(9, "a pinned piece could start", worker.pinned.front());
    }
  }
  const bool holds = held_worker_ >= 0;
  if (holds != (held_for_ != kNone)) return Broken(8, "half a hold", held_worker_);
  if (holds && held_for_ != parked_.front()) {
    return Broken(8, "the hold is not the oldest's", held_for_);
  }
  return absl::OkStatus();
}

}  // namespace shoal::scheduler
