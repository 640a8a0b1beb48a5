#include "server/runtime/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/start_thread.h"
#include "server/runtime/clock.h"
#include "server/runtime/local_worker.h"
#include "server/scheduler/placement.h"

namespace shoal::runtime {
namespace {

using core::AttemptEnd;
using core::AttemptOutcome;

TaskBody* BodyOf(uint64_t tag) { return reinterpret_cast<TaskBody*>(tag); }

}  // namespace

class Round {
 public:
  struct Ended {
    scheduler::Seat seat;
    AttemptEnd end;
    TaskBody* body;
  };

  bool empty() const { return link.launches.empty() && finished.empty() && ended.empty(); }

  LinkActions link;
  std::vector<Ended> ended;
  std::vector<scheduler::Finished> finished;
  std::vector<AttemptEnd> ends;  // Scratch of ReportEnds.
};

Dispatcher::Dispatcher(const scheduler::Options& options, absl::string_view policy,
                       absl::Span<const WorkerSeat> workers)
    : scheduler_(options, scheduler::MakePlacement(policy)) {
  for (const WorkerSeat& seat : workers) {
    Worker& worker = workers_.emplace_back();
    worker.seat = {WorkerId{static_cast<int32_t>(workers_.size()) - 1}, 1};
    worker.link = std::make_unique<LocalWorker>(
        worker::Options{.memory_bytes = seat.memory_bytes, .lanes = seat.lanes});
    Seat(&worker, seat);
  }
  auto timer = StartThread([this] { RunTimer(); });
  started_ = timer.status();
  if (timer.ok()) timer_thread_ = *std::move(timer);
}

Dispatcher::~Dispatcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  timer_.notify_one();
  if (timer_thread_.joinable()) timer_thread_.join();
  std::unique_lock lock(mutex_);
  // A kernel that a cancelled task gave up may still run, and whoever told the last end, on a
  // worker's thread perhaps, may not have left yet.
  rounds_in_.wait(lock, [this] { return IsIdle(); });
}

void Dispatcher::Submit(absl::Span<const scheduler::Submission> tasks, std::vector<TaskId>* ids) {
  Drive(scheduler::TasksSubmitted{tasks}, ids);
}

void Dispatcher::Cancel(absl::Span<const TaskId> tasks) {
  Drive(scheduler::TasksCancelled{tasks}, nullptr);
}

scheduler::Seat Dispatcher::Join(const WorkerSeat& seat, std::unique_ptr<WorkerLink> link,
                                 std::optional<WorkerId> again) {
  scheduler::Seat seated;
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    round = TakeRound();
    if (!again.has_value()) {
      again = WorkerId{static_cast<int32_t>(workers_.size())};
      workers_.push_back({{*again, 0}, nullptr});
    }
    Worker& worker = Find(*again);
    seated = {*again, worker.seat.incarnation + 1};
    worker.seat = seated;
    link.swap(worker.link);  // What is left of an earlier life goes without the lock.
    Seat(&worker, seat);
    Collect(round.get());
  }
  CarryOut(std::move(round));
  return seated;
}

void Dispatcher::Lost(const scheduler::Seat& seat) {
  std::unique_ptr<WorkerLink> link;  // Goes without the lock.
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    if (!IsCurrent(seat)) return;
    round = TakeRound();
    link = std::move(Find(seat.worker).link);
    scheduler_.Handle(Now(), scheduler::WorkerLost{seat}, &actions_);
    Collect(round.get());
  }
  CarryOut(std::move(round));
}

void Dispatcher::Report(const scheduler::Seat& seat, absl::Span<const AttemptEnd> ends) {
  Drive(scheduler::AttemptsEnded{seat, ends}, nullptr);
}

void Dispatcher::SetStored(WorkerId id, int64_t bytes) {
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    const Worker& worker = Find(id);
    if (worker.link == nullptr) return;
    round = TakeRound();
    const Instant now = Now();
    scheduler_.Handle(now, scheduler::MemoryChanged{worker.seat, bytes}, &actions_);
    worker.link->SetStored(now, bytes, &round->link);
    Relay(now, worker, round.get());
    Collect(round.get());
  }
  CarryOut(std::move(round));
}

void Dispatcher::Drain(absl::AnyInvocable<void() &&> idle) {
  {
    const std::lock_guard lock(mutex_);
    when_idle_.push_back(std::move(idle));
  }
  Drive(scheduler::Drain{}, nullptr);
}

void Dispatcher::End(const PieceRun& run, AttemptEnd end, TaskBody* body) {
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    round = TakeRound();
  }
  round->ended.push_back({run.seat, end, body});
  CarryOut(std::move(round));
}

scheduler::SchedulerState::Counts Dispatcher::Counts() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.counts();
}

worker::WorkerState::Counts Dispatcher::WorkerCounts(WorkerId worker) const {
  const std::lock_guard lock(mutex_);
  const WorkerLink* link = workers_[static_cast<size_t>(worker.value)].link.get();
  return link == nullptr ? worker::WorkerState::Counts() : link->counts();
}

void Dispatcher::Drive(const scheduler::Event& event, std::vector<TaskId>* ids) {
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    round = TakeRound();
    scheduler_.Handle(Now(), event, &actions_);
    if (ids != nullptr) ids->assign(actions_.accepted.begin(), actions_.accepted.end());
    Collect(round.get());
  }
  CarryOut(std::move(round));
}

// Runs and tells until nothing is left: what one launch ends may let the next begin.
void Dispatcher::CarryOut(std::unique_ptr<Round> round) {
  while (!round->empty()) {
    Execute(round.get());
    Tell(round.get());
    if (round->ended.empty()) break;
    {
      const std::lock_guard lock(mutex_);
      ReportEnds(round.get());
      Collect(round.get());
    }
    for (const Round::Ended& ended : round->ended) Release(ended.body);
    round->ended.clear();
  }
  std::vector<absl::AnyInvocable<void() &&>> idle;
  {
    const std::lock_guard lock(mutex_);
    spare_rounds_.push_back(std::move(round));
    --rounds_out_;
    if (scheduler_.draining() && IsIdle()) idle.swap(when_idle_);
    if (rounds_out_ == 0 && stopping_) rounds_in_.notify_all();
  }
  for (auto& told : idle) std::move(told)();
}

void Dispatcher::Execute(Round* round) {
  for (const LinkActions::Launch& launch : round->link.launches) {
    // A body that answers nothing may be gone by now.
    const std::optional<AttemptOutcome> outcome = launch.body->Run(launch.run);
    if (!outcome.has_value()) continue;
    round->ended.push_back(
        {launch.run.seat, {.attempt = launch.run.attempt, .outcome = *outcome}, launch.body});
  }
  round->link.launches.clear();
}

void Dispatcher::Tell(Round* round) {
  for (const scheduler::Finished& finished : round->finished) {
    TaskBody* body = BodyOf(finished.tag);
    body->OnFinished(finished);
    Release(body);
  }
  round->finished.clear();
}

void Dispatcher::Release(TaskBody* body) {
  if (body->holds_.fetch_sub(1, std::memory_order_acq_rel) == 1) body->Retire();
}

std::unique_ptr<Round> Dispatcher::TakeRound() {
  ++rounds_out_;
  if (spare_rounds_.empty()) return std::make_unique<Round>();
  std::unique_ptr<Round> round = std::move(spare_rounds_.back());
  spare_rounds_.pop_back();
  return round;
}

bool Dispatcher::IsCurrent(const scheduler::Seat& seat) {
  const Worker& worker = Find(seat.worker);
  return worker.link != nullptr && worker.seat == seat;
}

/// Tells a worker's link and the scheduler of its new life.
void Dispatcher::Seat(Worker* worker, const WorkerSeat& seat) {
  worker->link->Seated(worker->seat);
  scheduler_.Handle(Now(),
                    scheduler::WorkerJoined{.seat = worker->seat,
                                            .memory_bytes = seat.memory_bytes,
                                            .slots = seat.slots,
                                            .lanes = seat.lanes,
                                            .window = seat.window},
                    &actions_);
}

void Dispatcher::ReportEnds(Round* round) {
  const auto& ended = round->ended;
  launches_out_ -= static_cast<int64_t>(ended.size());
  for (size_t begin = 0, end = 0; begin < ended.size(); begin = end) {
    round->ends.clear();
    const scheduler::Seat seat = ended[begin].seat;
    while (end < ended.size() && ended[end].seat == seat) round->ends.push_back(ended[end++].end);
    if (!IsCurrent(seat)) continue;  // The scheduler has given its attempts up already.
    const Worker& worker = Find(seat.worker);
    const Instant now = Now();
    worker.link->EndLaunches(now, round->ends, &round->link);
    Relay(now, worker, round);
  }
}

/// Takes the scheduler's actions to the workers until it has none: what a worker reports at once
/// may bring new ones.
void Dispatcher::Collect(Round* round) {
  round->finished.insert(round->finished.end(), actions_.finished.begin(), actions_.finished.end());
  while (!actions_.assigned.workers().empty() || !actions_.stops.empty()) {
    std::swap(actions_, pending_);
    actions_.Clear();
    for (const WorkerId id : pending_.assigned.workers()) {
      const Worker& worker = Find(id);
      const Instant now = Now();
      worker.link->Assign(now, pending_.assigned.For(id), &round->link);
      Relay(now, worker, round);
    }
    for (const scheduler::Stop& stop : pending_.stops) {
      const Worker& worker = Find(stop.worker);
      const Instant now = Now();
      worker.link->Drop(now, absl::MakeConstSpan(&stop.attempt, 1), &round->link);
      Relay(now, worker, round);
    }
    round->finished.insert(round->finished.end(), actions_.finished.begin(),
                           actions_.finished.end());
    actions_.finished.clear();
  }
  actions_.Clear();
  launches_out_ += static_cast<int64_t>(round->link.launches.size());
  ArmTimer();
}

/// Takes to the scheduler what a link reported at once.
void Dispatcher::Relay(Instant now, const Worker& worker, Round* round) {
  if (round->link.reports.empty()) return;
  scheduler_.Handle(now, scheduler::AttemptsEnded{worker.seat, round->link.reports}, &actions_);
  round->link.reports.clear();
}

void Dispatcher::ArmTimer() {
  Instant next = scheduler_.NextWakeup();
  for (const Worker& worker : workers_) {
    if (worker.link != nullptr) next = std::min(next, worker.link->NextWakeup());
  }
  if (next >= armed_) return;  // An early tick is harmless and arms the timer anew.
  armed_ = next;
  timer_.notify_one();
}

void Dispatcher::RunTimer() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (armed_ == kNever) {
      timer_.wait(lock);
      continue;
    }
    const Instant now = Now();
    if (now < armed_) {
      timer_.wait_for(lock, armed_ - now);
      continue;
    }
    armed_ = kNever;
    lock.unlock();
    Tick();
    lock.lock();
  }
}

void Dispatcher::Tick() {
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    round = TakeRound();
    scheduler_.Handle(Now(), scheduler::Tick{}, &actions_);
    for (const Worker& worker : workers_) {
      if (worker.link == nullptr) continue;
      const Instant now = Now();
      worker.link->Tick(now, &round->link);
      Relay(now, worker, round.get());
    }
    Collect(round.get());
  }
  CarryOut(std::move(round));
}

}  // namespace shoal::runtime
