#include "tests/server/scheduler/reference_scheduler.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace shoal::scheduler {

using core::AttemptOutcome;

namespace {
constexpr Duration kTick{1 << 20};  // Timers may be this late.
}  // namespace

std::vector<std::string> ReferenceScheduler::Observe(Instant now, const Event& event,
                                                     const Actions& actions, int64_t parked) {
  now_ = now;
  wrong_.clear();
  refused_.clear();
  to_stop_.clear();
  ended_.clear();
  submitted_.clear();
  for (auto& [tag, task] : tasks_) {
    task.permitted.clear();
    task.required = false;
  }
  PermitTimeouts();
  std::visit([this](const auto& e) { Apply(e); }, event);
  PermitTimeouts();  // A change of workers may have made more of them possible.
  FollowAccepted(actions);
  FollowAssigned(actions);
  FollowFinished(actions);
  FollowStops(actions);
  JudgeWorkers(parked);
  JudgeOrder(actions, parked);
  JudgeIdle(parked);
  return wrong_;
}

std::map<uint64_t, TaskId> ReferenceScheduler::LiveTasks() const {
  std::map<uint64_t, TaskId> live;
  for (const auto& [tag, task] : tasks_) live[tag] = task.id;
  return live;
}

// --- What an event permits and requires ---

void ReferenceScheduler::PermitTimeouts() {
  const bool none_accepts = std::none_of(workers_.begin(), workers_.end(),
                                         [](const auto& entry) { return entry.second.Accepts(); });
  for (auto& [tag, task] : tasks_) {
    if (task.deadline <= now_) task.permitted.insert(Outcome::kDeadlineExceeded);
    if (task.deadline != kNever && task.deadline + kTick <= now_) task.required = true;
    for (const RefPiece& piece : task.pieces) {
      if (piece.state != RefPiece::kWaiting) continue;
      const bool floating = piece.needs.pinned == kAnyWorker;
      if (Starved(piece) && task.submitted + options_.memory_wait <= now_) {
        task.permitted.insert(Outcome::kMemoryFull);
      }
      if (floating && none_accepts && task.submitted + options_.no_worker_wait <= now_) {
        task.permitted.insert(Outcome::kNoWorker);
      }
    }
  }
}

bool ReferenceScheduler::Starved(const RefPiece& piece) const {
  return std::none_of(workers_.begin(), workers_.end(), [&](const auto& entry) {
    const bool may = piece.needs.pinned == kAnyWorker ? entry.second.Accepts()
                                                      : entry.first == piece.needs.pinned;
    return may && entry.second.FitsIdle(piece.needs.reserve_bytes);
  });
}

void ReferenceScheduler::Require(Task& task, Outcome outcome) {
  task.permitted.insert(outcome);
  task.required = true;
}

void ReferenceScheduler::Apply(const TasksSubmitted& event) {
  for (const Submission& submission : event.tasks) submitted_.push_back(&submission);
}

void ReferenceScheduler::Apply(const TasksCancelled& event) {
  for (const TaskId id : event.tasks) {
    for (auto& [tag, task] : tasks_) {
      if (task.id == id) Require(task, Outcome::kCancelled);
    }
  }
}

void ReferenceScheduler::Apply(const AttemptsEnded& event) {
  Worker* worker = Current(event.seat);
  if (worker == nullptr) return;
  for (const core::AttemptEnd& end : event.ends) {
    const auto it = attempts_.find(end.attempt);
    if (it != attempts_.end() && it->second.worker == event.seat.worker) EndAttempt(end, *worker);
  }
}

void ReferenceScheduler::EndAttempt(const core::AttemptEnd& end, Worker& worker) {
  const Attempt attempt = attempts_.at(end.attempt);
  attempts_.erase(end.attempt);
  ended_.insert(end.attempt);
  worker.reserved -= attempt.reserve_bytes;
  --worker.in_flight;
  if (end.outcome == AttemptOutcome::kRefused) worker.draining = true;
  if (attempt.stopping) return;
  Task& task = tasks_.at(attempt.tag);
  RefPiece& piece = task.pieces[static_cast<size_t>(attempt.piece)];
  piece.state = RefPiece::kDone;
  switch (end.outcome) {
    case AttemptOutcome::kOk:
      if (std::all_of(task.pieces.begin(), task.pieces.end(),
                      [](const RefPiece& p) { return p.state == RefPiece::kDone; })) {
        Require(task, Outcome::kOk);
      }
      return;
    case AttemptOutcome::kFailed:
      return Require(task, Outcome::kFailed);
    case AttemptOutcome::kOutOfMemory:
      return Require(task, Outcome::kOutOfMemory);
    case AttemptOutcome::kCancelled:
      return Require(task, Outcome::kCancelled);
    case AttemptOutcome::kDeadlineExceeded:
      return Require(task, Outcome::kDeadlineExceeded);
    case AttemptOutcome::kRefused:
      if (piece.needs.pinned != kAnyWorker) return Require(task, Outcome::kDraining);
      return PutBack(piece);
  }
}

void ReferenceScheduler::PutBack(RefPiece& piece) {
  piece.state = RefPiece::kWaiting;
  piece.moved = true;
}

void ReferenceScheduler::Apply(const MemoryChanged& event) {
  Worker* worker = Current(event.seat);
  if (worker != nullptr) worker->stored = event.stored_bytes;
}

void ReferenceScheduler::Apply(const WorkerJoined& event) {
  Worker& worker = workers_[event.seat.worker];
  if (event.seat.incarnation < worker.incarnation) return;
  if (event.seat.incarnation == worker.incarnation && !worker.alive) return;
  if (event.seat.incarnation > worker.incarnation) {
    if (worker.alive) Lose(event.seat.worker);
    worker = Worker{.incarnation = event.seat.incarnation, .alive = true};
  }
  worker.memory = event.memory_bytes;
  worker.slots = event.slots;
}

void ReferenceScheduler::Apply(const WorkerLost& event) {
  if (Current(event.seat) != nullptr) Lose(event.seat.worker);
}

void ReferenceScheduler::Lose(WorkerId id) {
  workers_[id].alive = false;
  for (auto& [tag, task] : tasks_) {
    for (RefPiece& piece : task.pieces) {
      if (piece.state == RefPiece::kWaiting && piece.needs.pinned == id) {
        Require(task, Outcome::kShardLost);
      }
    }
  }
  for (auto it = attempts_.begin(); it != attempts_.end();) {
    const Attempt attempt = it->second;
    it = attempt.worker == id ? attempts_.erase(it) : std::next(it);
    if (attempt.worker != id || attempt.stopping) continue;
    Task& task = tasks_.at(attempt.tag);
    RefPiece& piece = task.pieces[static_cast<size_t>(attempt.piece)];
    if (piece.needs.pinned != kAnyWorker) {
      Require(task, Outcome::kShardLost);
    } else if (task.retry_safe && piece.losses < options_.retries_max) {
      ++piece.losses;
      PutBack(piece);
    } else {
      Require(task, Outcome::kWorkerLost);
    }
  }
}

void ReferenceScheduler::Apply(const WorkerDraining& event) {
  Worker* worker = Current(event.seat);
  if (worker != nullptr) worker->draining = true;
}

void ReferenceScheduler::Apply(const Drain& /*event*/) { draining_ = true; }

void ReferenceScheduler::Apply(const Tick& /*event*/) {}

ReferenceScheduler::Worker* ReferenceScheduler::Current(const Seat& seat) {
  const auto it = workers_.find(seat.worker);
  const bool current =
      it != workers_.end() && it->second.alive && it->second.incarnation == seat.incarnation;
  return current ? &it->second : nullptr;
}

int64_t ReferenceScheduler::WaitingCount() const {
  int64_t count = 0;
  for (const auto& [tag, task] : tasks_) {
    for (const RefPiece& piece : task.pieces) count += piece.state == RefPiece::kWaiting ? 1 : 0;
  }
  return count;
}

// Why a submission may be refused; empty when it may not.
std::set<Outcome> ReferenceScheduler::Refusals(const Submission& submission) const {
  if (draining_) return {Outcome::kDraining};
  if (submission.deadline <= now_) return {Outcome::kDeadlineExceeded};
  std::set<Outcome> reasons;
  std::vector<Piece> pieces{submission.piece};
  pieces.insert(pieces.end(), submission.more.begin(), submission.more.end());
  for (const Piece& piece : pieces) {
    const bool floating = piece.pinned == kAnyWorker;
    bool any = false;
    bool fits = piece.reserve_bytes == 0;
    for (const auto& [id, worker] : workers_) {
      if (floating ? !worker.Accepts() : !(worker.alive && id == piece.pinned)) continue;
      any = true;
      fits = fits || piece.reserve_bytes <= worker.memory;
    }
    if (!any) reasons.insert(floating ? Outcome::kNoWorker : Outcome::kShardLost);
    if (any && !fits) reasons.insert(Outcome::kNeverFits);
  }
  return reasons;
}

// --- What the core did ---

void ReferenceScheduler::FollowAccepted(const Actions& actions) {
  if (actions.accepted.size() != submitted_.size()) return Wrong("not one answer a submission");
  for (size_t i = 0; i < submitted_.size(); ++i) {
    const Submission& submission = *submitted_[i];
    const std::set<Outcome> reasons = Refusals(submission);
    Task task{.id = actions.accepted[i],
              .submitted = now_,
              .deadline = submission.deadline,
              .retry_safe = submission.retry_safe};
    std::vector<Piece> pieces{submission.piece};
    pieces.insert(pieces.end(), submission.more.begin(), submission.more.end());
    for (const Piece& piece : pieces) task.pieces.push_back({.needs = piece, .age = next_age_++});
    if (task.id) {
      if (!reasons.empty()) Wrong(absl::StrCat("task ", submission.tag, " had to be refused"));
      if (!tasks_used_.insert(task.id).second) Wrong("a task id was used twice");
    } else {
      refused_.insert(submission.tag);
      task.required = true;
      task.permitted = reasons;
      const auto count = static_cast<int64_t>(pieces.size());
      const bool full = WaitingCount() + count > options_.queue_pieces_max;
      if (reasons.empty() && full) task.permitted = {Outcome::kQueueFull};
    }
    if (task.id || !tasks_.contains(submission.tag)) tasks_[submission.tag] = task;
  }
}

void ReferenceScheduler::FollowAssigned(const Actions& actions) {
  for (const WorkerId id : actions.assigned.workers()) {
    Worker& worker = workers_[id];
    if (!worker.alive) Wrong("an assignment to a worker that is not alive");
    for (const core::Assignment& a : actions.assigned.For(id)) {
      const std::string name = absl::StrCat("piece ", a.tag, ".", a.piece);
      if (!attempts_used_.insert(a.attempt).second) Wrong("an attempt id was used twice");
      if (!tasks_.contains(a.tag)) return Wrong(absl::StrCat(name, " is of no live task"));
      Task& task = tasks_.at(a.tag);
      RefPiece& piece = task.pieces[static_cast<size_t>(a.piece)];
      if (piece.state != RefPiece::kWaiting) Wrong(absl::StrCat(name, " did not wait"));
      if (task.deadline <= now_) Wrong(absl::StrCat(name, " was started after its deadline"));
      const bool floating = piece.needs.pinned == kAnyWorker;
      if (floating && worker.draining) Wrong(absl::StrCat(name, " goes to a draining worker"));
      if (!floating && piece.needs.pinned != id) Wrong(absl::StrCat(name, " is pinned elsewhere"));
      if (!worker.Fits(piece.needs.reserve_bytes)) Wrong(absl::StrCat(name, " does not fit"));
      piece.state = RefPiece::kRunning;
      worker.reserved += piece.needs.reserve_bytes;
      ++worker.in_flight;
      attempts_[a.attempt] = {
          .tag = a.tag, .piece = a.piece, .worker = id, .reserve_bytes = piece.needs.reserve_bytes};
    }
  }
}

void ReferenceScheduler::FollowFinished(const Actions& actions) {
  for (const Finished& finished : actions.finished) {
    const auto it = tasks_.find(finished.tag);
    const std::string name =
        absl::StrCat("task ", finished.tag, " outcome ", static_cast<int>(finished.outcome));
    if (it == tasks_.end()) {
      Wrong(absl::StrCat(name, ": ended twice or was never there"));
      continue;
    }
    if (!it->second.permitted.contains(finished.outcome)) Wrong(absl::StrCat(name, ": not due"));
    if (finished.task != it->second.id) Wrong(absl::StrCat(name, ": wrong id"));
    for (auto& [id, attempt] : attempts_) {
      if (attempt.tag != finished.tag || attempt.stopping) continue;
      attempt.stopping = true;
      to_stop_.insert(id);
    }
    tasks_.erase(it);
  }
  for (const auto& [tag, task] : tasks_) {
    if (task.required) Wrong(absl::StrCat("task ", tag, " had to end"));
  }
}

void ReferenceScheduler::FollowStops(const Actions& actions) {
  for (const Stop& stop : actions.stops) {
    if (ended_.contains(stop.attempt)) continue;  // A sibling had decided earlier in the batch.
    const auto it = attempts_.find(stop.attempt);
    if (it == attempts_.end() || it->second.worker != stop.worker) {
      Wrong("a stop for what does not run there");
    } else if (to_stop_.erase(stop.attempt) == 0) {
      Wrong("a stop without a reason");
    }
  }
  if (!to_stop_.empty()) Wrong("an attempt of an ended task was not stopped");
}

// --- The state it led to ---

void ReferenceScheduler::JudgeWorkers(int64_t /*parked*/) {
  for (const auto& [id, worker] : workers_) {
    int64_t reserved = 0;
    int32_t in_flight = 0;
    for (const auto& [unused, attempt] : attempts_) {
      if (attempt.worker != id) continue;
      reserved += attempt.reserve_bytes;
      ++in_flight;
    }
    if (worker.alive && (reserved != worker.reserved || in_flight != worker.in_flight)) {
      Wrong("the reference lost count");
    }
  }
  if (WaitingCount() > options_.queue_pieces_max + static_cast<int64_t>(attempts_used_.size())) {
    Wrong("the queue has no limit");
  }
}

// Waiting pieces that may use `worker`, oldest first.
std::vector<ReferenceScheduler::Waiting> ReferenceScheduler::WaitingFor(WorkerId worker,
                                                                        bool pinned) const {
  std::vector<Waiting> waiting;
  for (const auto& [tag, task] : tasks_) {
    for (const RefPiece& piece : task.pieces) {
      if (piece.state != RefPiece::kWaiting) continue;
      if (piece.needs.pinned == (pinned ? worker : kAnyWorker))
        waiting.push_back({piece.age, &piece});
    }
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Waiting& a, const Waiting& b) { return a.age < b.age; });
  return waiting;
}

// Nobody got a place that an older piece of the same kind could have had instead.
void ReferenceScheduler::JudgeOrder(const Actions& actions, int64_t parked) {
  for (const WorkerId id : actions.assigned.workers()) {
    const Worker& worker = workers_.at(id);
    const std::vector<Waiting> floating = WaitingFor(id, false);
    const std::vector<Waiting> pinned = WaitingFor(id, true);
    for (const core::Assignment& a : actions.assigned.For(id)) {
      if (!tasks_.contains(a.tag)) continue;
      const RefPiece& taken = tasks_.at(a.tag).pieces[static_cast<size_t>(a.piece)];
      if (taken.moved) continue;
      const int64_t bytes = taken.needs.reserve_bytes;
      for (const Waiting& other : floating) {
        const int64_t needed = other.piece->needs.reserve_bytes;
        const bool comparable = (needed == 0) == (bytes == 0) && !other.piece->moved &&
                                (bytes == 0 || parked < SchedulerState::kParkedMax);
        const bool room = needed <= bytes || worker.Fits(needed - bytes);
        if (worker.Accepts() && comparable && room && other.age < taken.age) {
          Wrong(absl::StrCat("piece ", a.tag, ".", a.piece, " passed an older floating one"));
        }
      }
      if (pinned.empty() || pinned[0].age > taken.age) continue;
      const int64_t needed = pinned[0].piece->needs.reserve_bytes;
      const bool held = parked > 0 && needed > 0;
      if (!held && (needed <= bytes || worker.Fits(needed - bytes))) {
        Wrong(absl::StrCat("piece ", a.tag, ".", a.piece, " passed an older pinned one"));
      }
    }
  }
}

// No worker has room for a piece that waits, but for one held for the oldest of those aside.
void ReferenceScheduler::JudgeIdle(int64_t parked) {
  std::vector<std::string> held;
  for (const auto& [id, worker] : workers_) {
    if (!worker.alive || worker.in_flight >= worker.slots) continue;
    std::string kept;
    const std::vector<Waiting> pinned = WaitingFor(id, true);
    if (!pinned.empty() && worker.Fits(pinned[0].piece->needs.reserve_bytes)) {
      if (pinned[0].piece->needs.reserve_bytes == 0 || parked == 0) Wrong("a pinned piece idles");
      kept = absl::StrCat("worker ", id.value, ", piece ", pinned[0].age, " pinned to it");
    }
    for (const Waiting& waiting : WaitingFor(id, false)) {
      const int64_t bytes = waiting.piece->needs.reserve_bytes;
      if (!worker.Accepts() || !worker.Fits(bytes)) continue;
      if (bytes == 0) Wrong("a light piece idles");
      const bool behind_pinned = !pinned.empty() && pinned[0].age < waiting.age;
      if (behind_pinned || parked >= SchedulerState::kParkedMax) continue;
      if (parked == 0) Wrong("a heavy piece idles");
      kept = absl::StrCat("worker ", id.value, ", piece ", waiting.age);
    }
    if (!kept.empty()) held.push_back(kept);
  }
  if (held.size() > 1) Wrong("more than one worker is held: " + absl::StrJoin(held, "; "));
}

}  // namespace shoal::scheduler
