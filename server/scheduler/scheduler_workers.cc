// The scheduler core's workers: joining, leaving, losing.

#include <algorithm>

#include "base/check.h"
#include "server/scheduler/scheduler_state.h"

namespace shoal::scheduler {

using core::kNone;

void SchedulerState::On(const WorkerJoined& event) {
  const int32_t index = event.seat.worker.value;
  SHOAL_CHECK(index >= 0 && index < kWorkersMax);
  SHOAL_CHECK(event.seat.incarnation > 0);
  SHOAL_CHECK(event.memory_bytes >= 0 && event.slots >= 1 && event.lanes >= 1);
  if (AsIndex(index) >= workers_.size()) workers_.resize(AsIndex(index) + 1);
  WorkerRow& worker = workers_[AsIndex(index)];
  const bool known = worker.alive && worker.incarnation == event.seat.incarnation;
  if (!known) {
    if (event.seat.incarnation <= worker.incarnation) {
      ++counts_.stale;  // A greeting overtaken by that of a later life.
      return;
    }
    if (worker.alive) Lose(event.seat.worker);
    worker.incarnation = event.seat.incarnation;
    worker.alive = true;
    worker.draining = false;
    worker.stored_bytes = 0;
    ++counts_.workers;
  }
  worker.memory_bytes = event.memory_bytes;
  worker.slots = event.slots;
  worker.lanes = event.lanes;
  worker.window = event.window;
  CountWorkers();
  Touch(index);
}

void SchedulerState::On(const WorkerLost& event) {
  if (Current(event.seat) != nullptr) Lose(event.seat.worker);
}

void SchedulerState::On(const WorkerDraining& event) {
  WorkerRow* worker = Current(event.seat);
  if (worker != nullptr) StopFloating(*worker);
}

void SchedulerState::On(const MemoryChanged& event) {
  SHOAL_CHECK(event.stored_bytes >= 0);
  WorkerRow* worker = Current(event.seat);
  if (worker == nullptr) return;
  worker->stored_bytes = event.stored_bytes;
  Touch(event.seat.worker.value);
}

WorkerRow* SchedulerState::Current(const Seat& seat) {
  const auto index = static_cast<size_t>(seat.worker.value);
  if (index < workers_.size() && workers_[index].alive &&
      workers_[index].incarnation == seat.incarnation) {
    return &workers_[index];
  }
  ++counts_.stale;
  return nullptr;
}

void SchedulerState::StopFloating(WorkerRow& worker) {
  if (worker.draining) return;
  worker.draining = true;
  CountWorkers();
  Touch(static_cast<int32_t>(&worker - workers_.data()));
}

void SchedulerState::Lose(WorkerId id) {
  WorkerRow& worker = workers_[AsIndex(id.value)];
  worker.alive = false;
  --counts_.workers;
  CountWorkers();
  Touch(id.value);
  LoseAttempts(id);
  while (!worker.pinned.empty()) {
    Finish(rows_[worker.pinned.front()].head, {.outcome = Outcome::kShardLost, .worker = id});
  }
}

// The youngest first: each piece put back is then older than the one before, and goes to the front
// of the queue without a search.
void SchedulerState::LoseAttempts(WorkerId id) {
  WorkerRow& worker = workers_[AsIndex(id.value)];
  while (!worker.attempts.empty()) {
    const uint32_t row = worker.attempts.back();
    PieceRow& piece = rows_[row];
    Finished how{.worker = id, .attempt = AttemptIdOf(row)};
    const bool stopping = piece.state == PieceState::kStopping;
    Detach(row);
    if (stopping) {
      FreeRow(row);
    } else if (piece.pinned >= 0) {
      how.outcome = Outcome::kShardLost;
      Finish(piece.head, how);
    } else if (piece.retry_safe && piece.losses < options_.retries_max) {
      ++piece.losses;
      Requeue(row);
    } else {
      how.outcome = Outcome::kWorkerLost;
      Finish(piece.head, how);
    }
  }
}

void SchedulerState::CountWorkers() {
  accepting_ = 0;
  memory_max_ = 0;
  for (const WorkerRow& worker : workers_) {
    if (!worker.TakesFloating()) continue;
    ++accepting_;
    memory_max_ = std::max(memory_max_, worker.memory_bytes);
  }
}

// Floating pieces without any worker to go to wait a while, since a worker that was restarted is
// back in seconds, but not for ever.
void SchedulerState::WatchOrphans() {
  const bool waits = !light_.empty() || !heavy_.empty() || !parked_.empty();
  const bool orphaned = accepting_ == 0 && waits;
  if (!orphaned) {
    orphaned_until_ = kNever;
  } else if (orphaned_until_ == kNever) {
    orphaned_until_ = now_ + options_.no_worker_wait;
  }
}

void SchedulerState::FailOrphans() {
  const Finished how{.outcome = Outcome::kNoWorker, .retry_after = options_.retry_after};
  for (PieceList* queue : {&parked_, &heavy_, &light_}) {
    while (!queue->empty()) Finish(rows_[queue->front()].head, how);
  }
}

void SchedulerState::Touch(int32_t worker) {
  WorkerRow& row = workers_[AsIndex(worker)];
  row.held_for_pinned = false;  // To be found out again.
  dirty_ = true;
  if (row.touched) return;
  row.touched = true;
  touched_.push_back(worker);
}

// A worker whose memory is held for one piece is shown without any, so that only pieces that need
// none go there.
void SchedulerState::UpdatePlacement(int32_t worker) {
  const WorkerRow& row = workers_[AsIndex(worker)];
  const bool held = row.held_for_pinned || worker == held_worker_;
  WorkerLoad load;
  load.open = row.TakesFloating() && row.HasSlot();
  load.work = row.work;
  load.attempts = static_cast<int32_t>(row.attempts.size());
  load.free_bytes = held ? std::min<int64_t>(row.free_bytes(), 0) : row.free_bytes();
  placement_->Update(WorkerId{worker}, load);
}

bool SchedulerState::FitsSomewhereWhenIdle(int64_t reserve_bytes) const {
  return std::any_of(workers_.begin(), workers_.end(), [&](const WorkerRow& worker) {
    return worker.TakesFloating() && worker.FitsWhenIdle(reserve_bytes);
  });
}

SchedulerState::WorkerView SchedulerState::Find(WorkerId worker) const {
  const auto index = static_cast<size_t>(worker.value);
  if (index >= workers_.size()) return {.seat = {worker, 0}};
  const WorkerRow& row = workers_[index];
  return {.seat = {worker, row.incarnation},
          .alive = row.alive,
          .draining = row.draining,
          .memory_bytes = row.memory_bytes,
          .stored_bytes = row.stored_bytes,
          .reserved_bytes = row.reserved_bytes,
          .in_flight = row.attempts.size(),
          .pinned_waiting = row.pinned.size()};
}

}  // namespace shoal::scheduler
