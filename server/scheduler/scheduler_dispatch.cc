// The scheduler core's dispatch pass: waiting pieces to workers with room. The rules it follows
// are in docs/scheduling.md.

#include <algorithm>

#include "base/check.h"
#include "server/scheduler/scheduler_state.h"

namespace shoal::scheduler {

using core::kNone;

// Runs once an event, after all its changes, and before it when timers made some. A pass that finds
// expired pieces may make room for another; each ends at least one task, so the loop ends.
void SchedulerState::Dispatch() {
  LiftYoungerHolds();
  while (dirty_) {
    dirty_ = false;
    for (const int32_t worker : touched_) UpdatePlacement(worker);
    DispatchParked();
    DispatchFloating();
    // The list may grow while this runs: a loop over a range would not see it.
    for (size_t i = 0; i < touched_.size(); ++i) {  // NOLINT(modernize-loop-convert)
      const int32_t worker = touched_[i];
      workers_[AsIndex(worker)].touched = false;
      UpdatePlacement(worker);
      DispatchPinned(worker);
    }
    touched_.clear();
  }
}

// A submission's straight way to a worker, past the queues, when nothing older waits there or was
// put into a queue in this event and is still to be tried.
bool SchedulerState::Start(uint32_t row) {
  if (dirty_) return false;
  const PieceRow& piece = rows_[row];
  if (piece.pinned < 0) return light_.empty() && heavy_.empty() && MayPlace(row) && Place(row);
  const WorkerRow& worker = workers_[AsIndex(piece.pinned)];
  const bool goes = worker.pinned.empty() && worker.HasSlot() && !IsBehindHold(piece.pinned, row) &&
                    Fits(piece.reserve_bytes, worker.free_bytes());
  if (goes) Assign(row, piece.pinned);
  return goes;
}

// Oldest first; after each that goes, again from the front, since a hold may have gone with it.
void SchedulerState::DispatchParked() {
  if (parked_.empty()) return;
  if (held_worker_ >= 0) {
    const WorkerRow& held = workers_[AsIndex(held_worker_)];
    const bool helps = held.TakesFloating() && held.FitsWhenIdle(rows_[held_for_].reserve_bytes);
    if (!helps) ReleaseHold();
  }
  for (uint32_t row = parked_.front(); row != kNone;) {
    const size_t ended = actions_->finished.size();
    const uint32_t next = rows_[row].link.next;
    const bool gone = EndIfExpired(row) || (row == held_for_ && PlaceOnHeld(row)) || Place(row);
    // The end of a task takes its other pieces out of this list too.
    row = gone || actions_->finished.size() != ended ? parked_.front() : next;
  }
  if (held_worker_ < 0 && !parked_.empty()) HoldFor(parked_.front());
}

// Heavy pieces come to a halt when too many of them stepped aside; light ones never do.
bool SchedulerState::MayPlace(uint32_t row) const {
  return rows_[row].IsLight() || parked_.size() < kParkedMax;
}

// The older of the two fronts; kNone when nothing may be placed.
uint32_t SchedulerState::NextFloating() const {
  const uint32_t light = light_.front();
  const uint32_t heavy = heavy_.front();
  if (heavy == kNone || !MayPlace(heavy)) return light;
  if (light == kNone) return heavy;
  return rows_[light].sequence < rows_[heavy].sequence ? light : heavy;
}

void SchedulerState::DispatchFloating() {
  for (uint32_t row = NextFloating(); row != kNone; row = NextFloating()) {
    if (EndIfExpired(row) || Place(row)) continue;
    const bool any_open = placement_->Choose({0, rows_[row].cost}) != kAnyWorker;
    if (!any_open || rows_[row].IsLight()) return;  // It waits for a slot, and all behind it do.
    Park(row);
  }
}

// Whether the worker's memory is held for a piece older than the heavy `row`.
bool SchedulerState::IsBehindHold(int32_t worker_index, uint32_t row) const {
  return worker_index == held_worker_ && !rows_[row].IsLight() &&
         rows_[held_for_].sequence < rows_[row].sequence;
}

void SchedulerState::DispatchPinned(int32_t worker_index) {
  WorkerRow& worker = workers_[AsIndex(worker_index)];
  while (!worker.pinned.empty()) {
    const uint32_t row = worker.pinned.front();
    if (EndIfExpired(row)) continue;
    if (!worker.HasSlot()) return;
    if (IsBehindHold(worker_index, row)) return;
    if (!Fits(rows_[row].reserve_bytes, worker.free_bytes())) {
      if (!worker.FitsWhenIdle(rows_[row].reserve_bytes)) WaitForStored(row);
      return;
    }
    Assign(row, worker_index);
  }
}

// Gives a floating piece to the worker of the policy's choice; false when there is none. On each
// worker that is offered, an older pinned piece goes first.
bool SchedulerState::Place(uint32_t row) {
  const PieceNeeds needs{rows_[row].reserve_bytes, CostOf(rows_[row])};
  for (;;) {
    const WorkerId worker = placement_->Choose(needs);
    if (worker == kAnyWorker) return false;
    if (YieldToPinned(worker.value, row)) continue;
    Assign(row, worker.value);
    return true;
  }
}

bool SchedulerState::PlaceOnHeld(uint32_t row) {
  const WorkerRow& worker = workers_[AsIndex(held_worker_)];
  const auto has_room = [&] {
    return worker.TakesFloating() && worker.HasSlot() && !worker.held_for_pinned &&
           Fits(rows_[row].reserve_bytes, worker.free_bytes());
  };
  while (has_room()) {
    if (YieldToPinned(held_worker_, row)) continue;
    Assign(row, held_worker_);
    return true;
  }
  return false;
}

// Whether the oldest piece pinned to the worker is older than the floating `row` and had its turn:
// it ended, started, or now keeps the worker's memory from younger ones. A piece that only stored
// arrays keep out holds nothing up: no end of an attempt would let it in.
bool SchedulerState::YieldToPinned(int32_t worker_index, uint32_t row) {
  WorkerRow& worker = workers_[AsIndex(worker_index)];
  if (worker.pinned.empty()) [[likely]] {
    return false;
  }
  const uint32_t pinned = worker.pinned.front();
  if (rows_[pinned].sequence > rows_[row].sequence) return false;
  if (IsBehindHold(worker_index, pinned)) return false;
  if (EndIfExpired(pinned)) return true;
  if (Fits(rows_[pinned].reserve_bytes, worker.free_bytes())) {
    Assign(pinned, worker_index);
    return true;
  }
  if (rows_[row].IsLight() || !worker.FitsWhenIdle(rows_[pinned].reserve_bytes)) return false;
  worker.held_for_pinned = true;
  UpdatePlacement(worker_index);
  return true;
}

// The wheel may be a tick late; a deadline holds to the nanosecond where it decides a start.
bool SchedulerState::EndIfExpired(uint32_t row) {
  const uint32_t head = rows_[row].head;
  if (rows_[head].deadline > now_) return false;
  Finish(head, {.outcome = Outcome::kDeadlineExceeded});
  return true;
}

void SchedulerState::Assign(uint32_t row, int32_t worker_index) {
  PieceRow& piece = rows_[row];
  if (piece.state != PieceState::kNew) Dequeue(row);
  WorkerRow& worker = workers_[AsIndex(worker_index)];
  piece.state = PieceState::kAssigned;
  piece.worker = worker_index;
  worker.attempts.PushBack(rows_, row);
  worker.reserved_bytes += piece.reserve_bytes;
  worker.work += CostOf(piece);
  ++counts_.in_flight;
  ++counts_.assigned;
  UpdatePlacement(worker_index);
  const PieceRow& task = rows_[piece.head];
  core::Assignment& assignment = actions_->assigned.Append(WorkerId{worker_index});
  assignment.attempt = AttemptIdOf(row);
  assignment.task = TaskIdOf(piece.head);
  assignment.tag = task.tag;
  assignment.reserve_bytes = piece.reserve_bytes;
  assignment.cost = piece.cost;
  assignment.deadline = task.deadline;
  assignment.piece = piece.index;
  assignment.needs_inputs = piece.needs_inputs;
}

// --- Queues ---------------------------------------------------------------------------------

void SchedulerState::CountWaiting(uint32_t row, PieceState state) {
  rows_[row].state = state;
  ++counts_.waiting;
  counts_.waiting_bytes += rows_[row].reserve_bytes;
}

void SchedulerState::Enqueue(uint32_t row) {
  const int32_t pinned = rows_[row].pinned;
  if (pinned < 0) {
    PieceList& queue = FloatingQueue(row);
    if (queue.empty()) dirty_ = true;  // To find out what it waits for.
    queue.PushBack(rows_, row);
    CountWaiting(row, PieceState::kFloating);
    return;
  }
  PieceList& queue = workers_[AsIndex(pinned)].pinned;
  if (queue.empty()) Touch(pinned);
  queue.PushBack(rows_, row);
  CountWaiting(row, PieceState::kPinned);
}

void SchedulerState::Dequeue(uint32_t row) {
  PieceRow& piece = rows_[row];
  if (piece.state == PieceState::kPinned) {
    workers_[AsIndex(piece.pinned)].pinned.Remove(rows_, row);
  } else if (piece.state == PieceState::kParked) {
    parked_.Remove(rows_, row);
    --counts_.parked;
    if (row == held_for_) ReleaseHold();
  } else {
    SHOAL_CHECK(piece.state == PieceState::kFloating);
    if (row == requeued_last_) requeued_last_ = kNone;
    FloatingQueue(row).Remove(rows_, row);
  }
  if (piece.waits_for_stored) memory_timers_.Disarm(row);
  piece.waits_for_stored = false;
  piece.state = PieceState::kNew;
  --counts_.waiting;
  counts_.waiting_bytes -= piece.reserve_bytes;
}

// The front of the heavy queue steps aside: there are slots, but not the memory it needs.
void SchedulerState::Park(uint32_t row) {
  if (row == requeued_last_) requeued_last_ = kNone;
  heavy_.Remove(rows_, row);
  parked_.PushBack(rows_, row);
  rows_[row].state = PieceState::kParked;
  ++counts_.parked;
  if (parked_.front() == row) {
    HoldFor(row);
  } else if (!FitsSomewhereWhenIdle(rows_[row].reserve_bytes)) {
    WaitForStored(row);
  }
}

// A heavy piece that came back goes before the younger ones that have stepped aside meanwhile.
bool SchedulerState::ParkInOrder(uint32_t row) {
  if (rows_[row].IsLight() || counts_.parked >= kParkedMax) return false;
  uint32_t position = parked_.front();
  while (position != kNone && rows_[position].sequence < rows_[row].sequence) {
    position = rows_[position].link.next;
  }
  if (position == kNone) return false;
  const bool becomes_first = position == parked_.front();
  if (becomes_first && held_worker_ >= 0) ReleaseHold();
  parked_.InsertBefore(rows_, position, row);
  CountWaiting(row, PieceState::kParked);
  ++counts_.parked;
  // The first waits with a hold or with a timer, the others with a timer where nothing else helps.
  const uint32_t other = becomes_first ? position : row;
  if (!FitsSomewhereWhenIdle(rows_[other].reserve_bytes)) WaitForStored(other);
  return true;
}

// Keeps the memory of a worker for the piece: of those that could take it once their attempts have
// ended, the one with the most memory free now. Only light pieces go there until this one did.
void SchedulerState::HoldFor(uint32_t row) {
  int32_t best = -1;
  for (int32_t i = 0; i < static_cast<int32_t>(workers_.size()); ++i) {
    const WorkerRow& worker = workers_[AsIndex(i)];
    if (!worker.TakesFloating() || !worker.FitsWhenIdle(rows_[row].reserve_bytes)) continue;
    if (best < 0 || worker.free_bytes() > workers_[AsIndex(best)].free_bytes()) best = i;
  }
  if (best < 0) {
    WaitForStored(row);
    return;
  }
  held_worker_ = best;
  held_for_ = row;
  UpdatePlacement(best);
}

// A piece that came back from a worker may be older than the pinned ones that memory is kept for.
void SchedulerState::LiftYoungerHolds() {
  if (requeued_oldest_ == UINT64_MAX) return;
  for (int32_t i = 0; i < static_cast<int32_t>(workers_.size()); ++i) {
    const WorkerRow& worker = workers_[AsIndex(i)];
    if (worker.held_for_pinned && rows_[worker.pinned.front()].sequence > requeued_oldest_)
      Touch(i);
  }
  requeued_oldest_ = UINT64_MAX;
}

void SchedulerState::ReleaseHold() {
  const int32_t worker = held_worker_;
  held_worker_ = -1;
  held_for_ = kNone;
  Touch(worker);
  UpdatePlacement(worker);  // At once: the next piece aside may go there.
}

// Stored arrays alone keep the piece out of every worker it may use, so no attempt's end will let
// it in: it waits for them a bounded time.
void SchedulerState::WaitForStored(uint32_t row) {
  if (rows_[row].waits_for_stored) return;
  if (rows_[row].pinned < 0 && accepting_ == 0) return;  // It waits for a worker first of all.
  rows_[row].waits_for_stored = true;
  memory_timers_.Arm(row, now_ + options_.memory_wait);
}

void SchedulerState::OnMemoryTimer(uint32_t row) {
  PieceRow& piece = rows_[row];
  piece.waits_for_stored = false;
  int64_t limit_bytes = 0;
  bool hopeless = true;
  for (int32_t i = 0; i < static_cast<int32_t>(workers_.size()); ++i) {
    const WorkerRow& worker = workers_[AsIndex(i)];
    if (piece.pinned < 0 ? !worker.TakesFloating() : i != piece.pinned) continue;
    limit_bytes = std::max(limit_bytes, worker.memory_bytes - worker.stored_bytes);
    hopeless = hopeless && !worker.FitsWhenIdle(piece.reserve_bytes);
  }
  if (!hopeless || (piece.pinned < 0 && accepting_ == 0)) return;
  Finish(piece.head, {.outcome = Outcome::kMemoryFull,
                      .worker = WorkerId{piece.pinned},
                      .needed_bytes = piece.reserve_bytes,
                      .limit_bytes = limit_bytes});
}

}  // namespace shoal::scheduler
