#include "server/worker/worker_state.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace shoal::worker {

using core::AttemptOutcome;
using core::kNone;

WorkerState::WorkerState(const Options& options)
    : options_(options), lane_launches_(static_cast<size_t>(options.lanes), 0) {
  SHOAL_CHECK(options.memory_bytes >= 0);
  SHOAL_CHECK(options.lanes >= 1 && options.lanes <= 64);
  SHOAL_CHECK(options.batch_max >= 1);
  free_lanes_ = ~uint64_t{0} >> (64 - options.lanes);
}

void WorkerState::Handle(Instant now, const Event& event, Actions* actions) {
  SHOAL_CHECK(now >= now_);  // The driver's clock never runs backwards.
  now_ = now;
  actions_ = actions;
  deadlines_.Advance(now, [this](uint32_t row) { GiveUp(row, AttemptOutcome::kDeadlineExceeded); });
  memory_timers_.Advance(now, [this](uint32_t row) {
    const bool hopeless = !HasRoomWhenIdle(rows_[row].assignment.reserve_bytes);
    if (hopeless) GiveUp(row, AttemptOutcome::kOutOfMemory);
  });
  std::visit([this](const auto& e) { On(e); }, event);
  do {
    ReservePass();
    LaunchPass();  // May find attempts expired, whose memory is then free.
  } while (!starved_.empty() && HasRoom(rows_[starved_.front()].assignment.reserve_bytes));
  actions_ = nullptr;
}

void WorkerState::On(const AttemptsAssigned& event) {
  if (event.batch <= last_batch_) {
    ++counts_.stale;
    return;
  }
  last_batch_ = event.batch;
  for (const core::Assignment& assignment : event.assignments) Take(assignment);
}

void WorkerState::Take(const core::Assignment& assignment) {
  if (draining_) {
    Report({assignment.attempt, AttemptOutcome::kRefused});
    return;
  }
  if (assignment.reserve_bytes > options_.memory_bytes) {
    Report({assignment.attempt, AttemptOutcome::kOutOfMemory});
    return;
  }
  const uint32_t row = rows_.Take();
  if (!index_.Insert(assignment.attempt.value, row)) {  // Peers may repeat themselves.
    ++counts_.stale;
    rows_.Free(row);
    return;
  }
  Row& r = rows_[row];
  r.assignment = assignment;
  r.has_inputs = false;
  if (assignment.deadline != kNever) deadlines_.Arm(row, assignment.deadline);
  if (!assignment.needs_inputs) {
    AwaitMemory(row);
    return;
  }
  r.phase = Phase::kFetching;
  ++counts_.fetching;
  actions_->fetches.push_back({assignment.attempt, assignment.tag, assignment.piece});
}

void WorkerState::On(const InputsReady& event) {
  const uint32_t row = index_.Find(event.attempt.value);
  SHOAL_CHECK(row != kNone);  // An attempt whose inputs are on their way is never forgotten.
  Row& r = rows_[row];
  switch (r.phase) {
    case Phase::kFetching:
      --counts_.fetching;
      r.has_inputs = event.ok;
      if (event.ok) {
        AwaitMemory(row);
      } else {
        Report({event.attempt, AttemptOutcome::kFailed});
        Leave(row);
      }
      return;
    case Phase::kDropped:
      r.has_inputs = event.ok;
      Leave(row);
      return;
    case Phase::kFree:
    case Phase::kNeedsMemory:
    case Phase::kReady:
    case Phase::kRunning:
    case Phase::kCancelling:
      break;  // Only our own driver sends this event, so this is our bug.
  }
  SHOAL_UNREACHABLE("inputs arrived that were not asked for");
}

void WorkerState::On(const MemoryChanged& event) {
  SHOAL_CHECK(event.stored_bytes >= 0);
  stored_bytes_ = event.stored_bytes;
}

void WorkerState::On(const LaunchesEnded& event) {
  for (const core::AttemptEnd& end : event.ends) EndLaunch(end);
}

// A launch cannot be recalled from a device. A dropped attempt therefore keeps its memory until
// this event, and only then gives it back.
void WorkerState::EndLaunch(const core::AttemptEnd& end) {
  const uint32_t row = index_.Find(end.attempt.value);
  SHOAL_CHECK(row != kNone);  // A running attempt is never forgotten.
  Row& r = rows_[row];
  switch (r.phase) {
    case Phase::kRunning:
      Report(end);
      break;
    case Phase::kCancelling:
      Report({end.attempt, r.early});
      break;
    case Phase::kFree:
    case Phase::kFetching:
    case Phase::kDropped:
    case Phase::kNeedsMemory:
    case Phase::kReady:
      SHOAL_UNREACHABLE("a launch ended that was not running");
  }
  --counts_.running;
  reserved_bytes_ -= r.assignment.reserve_bytes;
  const auto lane = static_cast<size_t>(r.lane);
  if (--lane_launches_[lane] == 0) free_lanes_ |= uint64_t{1} << lane;
  Leave(row);
}

void WorkerState::On(const AttemptsDropped& event) {
  for (const AttemptId attempt : event.attempts) {
    const uint32_t row = index_.Find(attempt.value);
    if (row == kNone) {
      ++counts_.stale;  // It ended before the word came.
      continue;
    }
    GiveUp(row, AttemptOutcome::kCancelled);
  }
}

void WorkerState::On(const Drain& /*event*/) { draining_ = true; }

void WorkerState::On(const Tick& /*event*/) {}

// Twice is as once: an attempt already given up keeps its first reason.
void WorkerState::GiveUp(uint32_t row, AttemptOutcome outcome) {
  Row& r = rows_[row];
  const AttemptId attempt = r.assignment.attempt;
  switch (r.phase) {
    case Phase::kFetching:
      --counts_.fetching;
      r.phase = Phase::kDropped;  // The late `InputsReady` releases what it brought.
      if (deadlines_.IsArmed(row)) deadlines_.Disarm(row);
      Report({attempt, outcome});
      return;
    case Phase::kNeedsMemory:
      StopWaiting(row);
      break;
    case Phase::kReady:
      --counts_.ready;
      ready_.Remove(rows_, row);
      reserved_bytes_ -= r.assignment.reserve_bytes;
      break;
    case Phase::kRunning:
      r.phase = Phase::kCancelling;
      r.early = outcome;
      actions_->interrupts.push_back({attempt, r.lane});
      return;
    case Phase::kDropped:
    case Phase::kCancelling:
      return;
    case Phase::kFree:
      SHOAL_UNREACHABLE("a free row was given up");
  }
  Report({attempt, outcome});
  Leave(row);
}

bool WorkerState::HasRoom(int64_t reserve_bytes) const {
  return reserve_bytes == 0 ||
         reserve_bytes <= options_.memory_bytes - stored_bytes_ - reserved_bytes_;
}

bool WorkerState::HasRoomWhenIdle(int64_t reserve_bytes) const {
  return reserve_bytes == 0 || reserve_bytes <= options_.memory_bytes - stored_bytes_;
}

// In turn: a small attempt does not pass a large one, or the large one might wait for ever.
void WorkerState::AwaitMemory(uint32_t row) {
  if (starved_.empty() && HasRoom(rows_[row].assignment.reserve_bytes)) {
    Reserve(row);
    return;
  }
  rows_[row].phase = Phase::kNeedsMemory;
  ++counts_.waiting_for_memory;
  starved_.PushBack(rows_, row);
}

void WorkerState::Reserve(uint32_t row) {
  reserved_bytes_ += rows_[row].assignment.reserve_bytes;
  rows_[row].phase = Phase::kReady;
  ++counts_.ready;
  ready_.PushBack(rows_, row);
}

void WorkerState::StopWaiting(uint32_t row) {
  starved_.Remove(rows_, row);
  --counts_.waiting_for_memory;
  if (memory_timers_.IsArmed(row)) memory_timers_.Disarm(row);
}

// The front that stored arrays alone keep out waits for them a bounded time: they may have grown
// since the scheduler sent it, and no end of a launch will let it in.
void WorkerState::ReservePass() {
  while (!starved_.empty()) {
    const uint32_t row = starved_.front();
    const int64_t reserve_bytes = rows_[row].assignment.reserve_bytes;
    if (!HasRoom(reserve_bytes)) {
      const bool hopeless = !HasRoomWhenIdle(reserve_bytes) && !memory_timers_.IsArmed(row);
      if (hopeless) memory_timers_.Arm(row, now_ + options_.memory_wait);
      return;
    }
    StopWaiting(row);
    Reserve(row);
  }
}

// What is ready is spread evenly over the lanes that are free, the lowest first.
void WorkerState::LaunchPass() {
  while (free_lanes_ != 0 && !ready_.empty()) {
    const int64_t free_count = std::popcount(free_lanes_);
    FillLane(std::countr_zero(free_lanes_), (ready_.size() + free_count - 1) / free_count);
  }
}

void WorkerState::FillLane(int32_t lane, int64_t share) {
  const auto begin = static_cast<int64_t>(actions_->launches.size());
  const int64_t count_max = std::min<int64_t>(share, options_.batch_max);
  Duration cost{};
  int32_t count = 0;
  while (!ready_.empty() && count < count_max) {
    const uint32_t row = ready_.front();
    Row& r = rows_[row];
    if (r.assignment.deadline <= now_) {  // The wheel may be a tick late.
      GiveUp(row, AttemptOutcome::kDeadlineExceeded);
      continue;
    }
    cost += r.assignment.cost == Duration{} ? options_.batch_cost_max : r.assignment.cost;
    if (count > 0 && cost > options_.batch_cost_max) break;
    ready_.Remove(rows_, row);
    --counts_.ready;
    ++counts_.running;
    r.phase = Phase::kRunning;
    r.lane = lane;
    actions_->launches.push_back({r.assignment.attempt, r.assignment.tag, r.assignment.piece});
    ++count;
  }
  if (count == 0) return;
  counts_.launched += static_cast<uint64_t>(count);
  actions_->batches.push_back({lane, count, begin});
  lane_launches_[static_cast<size_t>(lane)] = count;
  free_lanes_ &= ~(uint64_t{1} << lane);
}

void WorkerState::Report(const core::AttemptEnd& end) {
  actions_->reports.push_back(end);
  ++counts_.reported;
  if (core::HasFailed(end.outcome)) ++counts_.failed;
}

void WorkerState::Leave(uint32_t row) {
  Row& r = rows_[row];
  if (r.has_inputs) actions_->releases.push_back({r.assignment.attempt, r.assignment.tag});
  if (deadlines_.IsArmed(row)) deadlines_.Disarm(row);
  index_.Erase(r.assignment.attempt.value);
  r.phase = Phase::kFree;
  rows_.Free(row);
}

}  // namespace shoal::worker
