#include "server/scheduler/scheduler_state.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shoal::scheduler {

using core::AttemptOutcome;
using core::Handle;
using core::kNone;

namespace {

// A row whose generations come near their end is not used again: ids are never reused. The margin
// covers the attempts of the one task that may still live in it.
constexpr uint32_t kGenerationMax = UINT32_MAX - (1U << 16);

// Estimates beyond this count as this, so that no sum of them overflows.
constexpr Duration kCostMax = std::chrono::hours(1);

}  // namespace

SchedulerState::SchedulerState(const Options& options, std::unique_ptr<Placement> placement)
    : options_(options), placement_(std::move(placement)) {
  SHOAL_CHECK(placement_ != nullptr);
  SHOAL_CHECK(options.queue_pieces_max >= 0 && options.queue_bytes_max >= 0);
  SHOAL_CHECK(options.retries_max >= 0 && options.retries_max <= UINT8_MAX);
  SHOAL_CHECK(options.unknown_cost > Duration{});
}

void SchedulerState::Handle(Instant now, const Event& event, Actions* actions) {
  SHOAL_CHECK(now >= now_);  // The driver's clock never runs backwards.
  now_ = now;
  actions_ = actions;
  requeued_last_ = kNone;
  requeued_oldest_ = UINT64_MAX;
  deadlines_.Advance(now, [this](uint32_t head) {
    rows_[head].has_deadline = false;
    Finish(head, {.outcome = Outcome::kDeadlineExceeded});
  });
  memory_timers_.Advance(now, [this](uint32_t row) { OnMemoryTimer(row); });
  if (orphaned_until_ <= now) FailOrphans();
  Dispatch();
  std::visit([this](const auto& e) { On(e); }, event);
  Dispatch();
  WatchOrphans();
  actions_ = nullptr;
}

Instant SchedulerState::NextWakeup() const {
  return std::min({deadlines_.NextWakeup(), memory_timers_.NextWakeup(), orphaned_until_});
}

void SchedulerState::On(const Drain& /*event*/) { draining_ = true; }

void SchedulerState::On(const Tick& /*event*/) {}

// --- Admission ------------------------------------------------------------------------------

void SchedulerState::On(const TasksSubmitted& event) {
  for (const Submission& submission : event.tasks) Submit(submission);
}

void SchedulerState::Submit(const Submission& submission) {
  if (RefuseUnplaceable(submission)) return;
  if (!submission.more.empty() && QueueIsFull(submission)) {
    Refuse(submission, {.outcome = Outcome::kQueueFull, .retry_after = options_.retry_after});
    return;
  }
  const uint32_t head = Admit(submission);
  const bool started = Start(head);
  if (!started && submission.more.empty() && QueueIsFull(submission)) {
    FreeRow(head);
    Refuse(submission, {.outcome = Outcome::kQueueFull, .retry_after = options_.retry_after});
    return;
  }
  if (!started) Enqueue(head);
  for (uint32_t row = rows_[head].next; row != kNone; row = rows_[row].next) {
    if (!Start(row)) Enqueue(row);
  }
  if (submission.deadline != kNever) {
    rows_[head].has_deadline = true;
    deadlines_.Arm(head, submission.deadline);
  }
  ++counts_.tasks;
  ++counts_.admitted;
  actions_->accepted.push_back(TaskIdOf(head));
}

// True if it was: what can never be placed is answered at once, not left to wait.
bool SchedulerState::RefuseUnplaceable(const Submission& submission) {
  if (draining_) {
    Refuse(submission, {.outcome = Outcome::kDraining, .retry_after = options_.retry_after});
    return true;
  }
  if (submission.deadline <= now_) {
    Refuse(submission, {.outcome = Outcome::kDeadlineExceeded});
    return true;
  }
  if (RefuseUnplaceable(submission, submission.piece)) return true;
  for (const Piece& piece : submission.more) {
    if (RefuseUnplaceable(submission, piece)) return true;
  }
  return false;
}

bool SchedulerState::RefuseUnplaceable(const Submission& submission, const Piece& piece) {
  SHOAL_CHECK(piece.reserve_bytes >= 0 && piece.cost >= Duration{});
  int64_t limit_bytes = memory_max_;
  if (piece.pinned != kAnyWorker) {
    const auto index = static_cast<size_t>(piece.pinned.value);
    if (index >= workers_.size() || !workers_[index].alive) {
      Refuse(submission, {.outcome = Outcome::kShardLost, .worker = piece.pinned});
      return true;
    }
    limit_bytes = workers_[index].memory_bytes;
  } else if (accepting_ == 0) {
    Refuse(submission, {.outcome = Outcome::kNoWorker, .retry_after = options_.retry_after});
    return true;
  }
  if (Fits(piece.reserve_bytes, limit_bytes)) return false;
  Refuse(submission, {.outcome = Outcome::kNeverFits,
                      .worker = piece.pinned,
                      .needed_bytes = piece.reserve_bytes,
                      .limit_bytes = limit_bytes});
  return true;
}

bool SchedulerState::QueueIsFull(const Submission& submission) const {
  const auto pieces = static_cast<int64_t>(submission.more.size()) + 1;
  if (counts_.waiting + pieces > options_.queue_pieces_max) return true;
  if (counts_.waiting == 0) return false;  // One task alone may be larger than the limit.
  int64_t room = options_.queue_bytes_max - counts_.waiting_bytes - submission.piece.reserve_bytes;
  for (const Piece& piece : submission.more) room -= piece.reserve_bytes;
  return room < 0;
}

void SchedulerState::Refuse(const Submission& submission, Finished finished) {
  finished.tag = submission.tag;
  actions_->accepted.push_back(TaskId{});
  actions_->finished.push_back(finished);
  ++counts_.refused;
}

uint32_t SchedulerState::Admit(const Submission& submission) {
  const uint32_t head = NewRow(submission.piece, submission);
  PieceRow& task = rows_[head];
  task.tag = submission.tag;
  task.deadline = submission.deadline;
  task.head = head;
  task.index = 0;
  task.unfinished = static_cast<int32_t>(submission.more.size()) + 1;
  task.has_deadline = false;
  uint32_t last = head;
  for (const Piece& piece : submission.more) {
    const uint32_t row = NewRow(piece, submission);
    rows_[row].head = head;
    rows_[row].index = rows_[last].index + 1;
    rows_[last].next = row;
    last = row;
  }
  return head;
}

uint32_t SchedulerState::NewRow(const Piece& piece, const Submission& submission) {
  const uint32_t index = rows_.Take();
  PieceRow& row = rows_[index];
  row.reserve_bytes = piece.reserve_bytes;
  row.cost = std::min(piece.cost, kCostMax);
  row.sequence = next_sequence_++;
  row.next = kNone;
  row.pinned = piece.pinned.value;
  row.client = submission.client;
  row.state = PieceState::kNew;
  row.losses = 0;
  row.priority = submission.priority;
  row.retry_safe = submission.retry_safe;
  row.needs_inputs = piece.needs_inputs;
  return index;
}

// --- Attempts and ends ----------------------------------------------------------------------

void SchedulerState::On(const AttemptsEnded& event) {
  if (Current(event.seat) == nullptr) return;
  for (const core::AttemptEnd& end : event.ends) {
    const uint32_t row = FindAttempt(end.attempt);
    if (row == kNone || rows_[row].worker != event.seat.worker.value) {
      ++counts_.stale;  // Told before, or a word from before its worker was lost.
      continue;
    }
    EndAttempt(row, end.outcome);
  }
}

void SchedulerState::EndAttempt(uint32_t row, AttemptOutcome outcome) {
  PieceRow& piece = rows_[row];
  Finished how{.worker = WorkerId{piece.worker}, .attempt = AttemptIdOf(row)};
  const bool stopping = piece.state == PieceState::kStopping;
  Detach(row);
  if (outcome == AttemptOutcome::kRefused) StopFloating(workers_[AsIndex(piece.worker)]);
  if (stopping) {
    FreeRow(row);
    return;
  }
  switch (outcome) {
    case AttemptOutcome::kOk:
      piece.state = PieceState::kDone;
      how.outcome = Outcome::kOk;
      if (--rows_[piece.head].unfinished > 0) return;
      break;
    case AttemptOutcome::kRefused:
      if (piece.pinned < 0) {
        Requeue(row);
        return;
      }
      how.outcome = Outcome::kDraining;
      how.retry_after = options_.retry_after;
      break;
    case AttemptOutcome::kFailed:
      how.outcome = Outcome::kFailed;
      break;
    case AttemptOutcome::kOutOfMemory:
      how.outcome = Outcome::kOutOfMemory;
      break;
    case AttemptOutcome::kCancelled:
      how.outcome = Outcome::kCancelled;
      break;
    case AttemptOutcome::kDeadlineExceeded:
      how.outcome = Outcome::kDeadlineExceeded;
      break;
  }
  Finish(piece.head, how);
}

// Takes the attempt off its worker; from now on its id is stale.
void SchedulerState::Detach(uint32_t row) {
  PieceRow& piece = rows_[row];
  WorkerRow& worker = workers_[AsIndex(piece.worker)];
  worker.attempts.Remove(rows_, row);
  worker.reserved_bytes -= piece.reserve_bytes;
  worker.work -= CostOf(piece);
  ++piece.attempt_generation;
  --counts_.in_flight;
  if (piece.state == PieceState::kStopping) --counts_.stopping;
  piece.state = PieceState::kNew;
  Touch(piece.worker);
}

// Back into the queue at its old place. Pieces come back in runs of ascending or descending age, so
// the search starts at the last one put back, or at the front.
void SchedulerState::Requeue(uint32_t row) {
  ++counts_.retried;
  dirty_ = true;
  if (!rows_[row].IsLight()) requeued_oldest_ = std::min(requeued_oldest_, rows_[row].sequence);
  if (ParkInOrder(row)) return;
  const uint64_t sequence = rows_[row].sequence;
  PieceList& queue = FloatingQueue(row);
  uint32_t position = queue.front();
  if (requeued_last_ != kNone && rows_[requeued_last_].sequence < sequence &&
      rows_[requeued_last_].IsLight() == rows_[row].IsLight()) {
    position = rows_[requeued_last_].link.next;
  }
  while (position != kNone && rows_[position].sequence < sequence) {
    position = rows_[position].link.next;
  }
  queue.InsertBefore(rows_, position, row);
  CountWaiting(row, PieceState::kFloating);
  requeued_last_ = row;
}

// The only way out for a task: every piece is dropped and the task's id is stale before anything
// else can happen to it.
void SchedulerState::Finish(uint32_t head, const Finished& how) {
  PieceRow& task = rows_[head];
  Finished& finished = actions_->finished.emplace_back(how);
  finished.task = TaskIdOf(head);
  finished.tag = task.tag;
  if (task.has_deadline) deadlines_.Disarm(head);
  task.has_deadline = false;
  ++task.task_generation;
  --counts_.tasks;
  for (uint32_t row = head; row != kNone;) {
    const uint32_t next = rows_[row].next;
    DropPiece(row);
    row = next;
  }
}

void SchedulerState::DropPiece(uint32_t row) {
  PieceRow& piece = rows_[row];
  switch (piece.state) {
    case PieceState::kFloating:
    case PieceState::kParked:
      dirty_ = true;  // Those behind it may move up.
      Dequeue(row);
      FreeRow(row);
      return;
    case PieceState::kPinned:
      Dequeue(row);
      Touch(piece.pinned);
      FreeRow(row);
      return;
    case PieceState::kAssigned:
      piece.state = PieceState::kStopping;
      ++counts_.stopping;
      if (workers_[AsIndex(piece.worker)].alive) {
        actions_->stops.push_back({WorkerId{piece.worker}, AttemptIdOf(row)});
      }
      return;
    case PieceState::kNew:
    case PieceState::kDone:
      FreeRow(row);
      return;
    case PieceState::kFree:
    case PieceState::kStopping:
      break;
  }
  SHOAL_UNREACHABLE("a piece was dropped twice");
}

void SchedulerState::FreeRow(uint32_t row) {
  PieceRow& piece = rows_[row];
  piece.state = PieceState::kFree;
  if (piece.task_generation < kGenerationMax && piece.attempt_generation < kGenerationMax) {
    rows_.Free(row);
  } else {
    rows_.Retire();
  }
}

void SchedulerState::On(const TasksCancelled& event) {
  for (const TaskId task : event.tasks) {
    const uint32_t head = FindTask(task);
    if (head == kNone) {
      ++counts_.stale;  // It ended before the word came.
      continue;
    }
    Finish(head, {.outcome = Outcome::kCancelled});
  }
}

// --- Ids ------------------------------------------------------------------------------------

uint32_t SchedulerState::FindTask(TaskId task) const {
  const core::Handle handle = core::Handle::Unpack(task.value);
  if (!rows_.Contains(handle.index)) return kNone;
  const PieceRow& row = rows_[handle.index];
  const bool live = row.state != PieceState::kFree && row.state != PieceState::kStopping &&
                    row.head == handle.index && row.task_generation == handle.generation;
  return live ? handle.index : kNone;
}

uint32_t SchedulerState::FindAttempt(AttemptId attempt) const {
  const core::Handle handle = core::Handle::Unpack(attempt.value);
  if (!rows_.Contains(handle.index)) return kNone;
  const PieceRow& row = rows_[handle.index];
  const bool in_flight = row.state == PieceState::kAssigned || row.state == PieceState::kStopping;
  return in_flight && row.attempt_generation == handle.generation ? handle.index : kNone;
}

TaskId SchedulerState::TaskIdOf(uint32_t head) const {
  return TaskId{core::Handle{head, rows_[head].task_generation}.Packed()};
}

AttemptId SchedulerState::AttemptIdOf(uint32_t row) const {
  return AttemptId{core::Handle{row, rows_[row].attempt_generation}.Packed()};
}

bool SchedulerState::IsLive(TaskId task) const { return FindTask(task) != kNone; }

}  // namespace shoal::scheduler
