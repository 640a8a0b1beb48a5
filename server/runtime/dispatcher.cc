#include "server/runtime/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/start_thread.h"
#include "server/runtime/clock.h"
#include "server/scheduler/placement.h"

namespace shoal::runtime {
namespace {

using core::AttemptEnd;
using core::AttemptOutcome;

TaskBody* BodyOf(uint64_t tag) { return reinterpret_cast<TaskBody*>(tag); }

}  // namespace

struct Dispatcher::Worker {
  Worker(WorkerId worker_id, const WorkerSeat& seat)
      : id(worker_id),
        state(worker::Options{.memory_bytes = seat.memory_bytes, .lanes = seat.lanes}),
        lanes(static_cast<size_t>(seat.lanes)) {}

  scheduler::Seat Seat() const { return {id, 1}; }

  const WorkerId id;
  worker::WorkerState state;
  worker::Actions actions;
  uint64_t batch = 0;
  // What each lane runs, to find an attempt that is to be interrupted.
  std::vector<std::vector<worker::Launch>> lanes;
};

class Round {
 public:
  struct Item {
    TaskBody* body;
    PieceRun run;
  };
  struct Ended {
    WorkerId worker;
    AttemptEnd end;
    TaskBody* body;
  };

  bool empty() const { return launches.empty() && finished.empty() && ended.empty(); }

  std::vector<Item> launches;
  std::vector<Ended> ended;
  std::vector<scheduler::Finished> finished;
  std::vector<AttemptEnd> ends;  // Scratch of ReportEnds.
};

Dispatcher::Dispatcher(const scheduler::Options& options, absl::string_view policy,
                       absl::Span<const WorkerSeat> workers)
    : scheduler_(options, scheduler::MakePlacement(policy)) {
  const Instant now = Now();
  for (const WorkerSeat& seat : workers) {
    const WorkerId id{static_cast<int32_t>(workers_.size())};
    workers_.push_back(std::make_unique<Worker>(id, seat));
    scheduler_.Handle(now,
                      scheduler::WorkerJoined{.seat = workers_.back()->Seat(),
                                              .memory_bytes = seat.memory_bytes,
                                              .slots = seat.slots,
                                              .lanes = seat.lanes,
                                              .window = seat.window},
                      &actions_);
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
  rounds_in_.wait(lock, [this] { return rounds_out_ == 0 && scheduler_.idle(); });
}

void Dispatcher::Submit(absl::Span<const scheduler::Submission> tasks, std::vector<TaskId>* ids) {
  Drive(scheduler::TasksSubmitted{tasks}, ids);
}

void Dispatcher::Cancel(absl::Span<const TaskId> tasks) {
  Drive(scheduler::TasksCancelled{tasks}, nullptr);
}

void Dispatcher::SetStored(WorkerId worker, int64_t bytes) {
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    round = TakeRound();
    Worker* target = workers_[static_cast<size_t>(worker.value)].get();
    scheduler_.Handle(Now(), scheduler::MemoryChanged{target->Seat(), bytes}, &actions_);
    ToWorker(target, worker::MemoryChanged{bytes}, round.get());
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

void Dispatcher::End(WorkerId worker, AttemptEnd end, TaskBody* body) {
  std::unique_ptr<Round> round;
  {
    const std::lock_guard lock(mutex_);
    round = TakeRound();
  }
  round->ended.push_back({worker, end, body});
  CarryOut(std::move(round));
}

scheduler::SchedulerState::Counts Dispatcher::Counts() const {
  const std::lock_guard lock(mutex_);
  return scheduler_.counts();
}

worker::WorkerState::Counts Dispatcher::WorkerCounts(WorkerId worker) const {
  const std::lock_guard lock(mutex_);
  return workers_[static_cast<size_t>(worker.value)]->state.counts();
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
    if (rounds_out_ == 0 && scheduler_.draining() && scheduler_.idle()) idle.swap(when_idle_);
    if (rounds_out_ == 0 && stopping_) rounds_in_.notify_all();
  }
  for (auto& told : idle) std::move(told)();
}

void Dispatcher::Execute(Round* round) {
  for (const Round::Item& launch : round->launches) {
    // A body that answers nothing may be gone by now.
    const std::optional<AttemptOutcome> outcome = launch.body->Run(launch.run);
    if (!outcome.has_value()) continue;
    round->ended.push_back(
        {launch.run.worker, {.attempt = launch.run.attempt, .outcome = *outcome}, launch.body});
  }
  round->launches.clear();
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

void Dispatcher::ReportEnds(Round* round) {
  const auto& ended = round->ended;
  for (size_t begin = 0, end = 0; begin < ended.size(); begin = end) {
    round->ends.clear();
    while (end < ended.size() && ended[end].worker == ended[begin].worker) {
      round->ends.push_back(ended[end++].end);
    }
    Worker* worker = workers_[static_cast<size_t>(ended[begin].worker.value)].get();
    ToWorker(worker, worker::LaunchesEnded{round->ends}, round);
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
      Worker* worker = workers_[static_cast<size_t>(id.value)].get();
      ToWorker(worker, worker::AttemptsAssigned{++worker->batch, pending_.assigned.For(id)}, round);
    }
    for (const scheduler::Stop& stop : pending_.stops) {
      Worker* worker = workers_[static_cast<size_t>(stop.worker.value)].get();
      ToWorker(worker, worker::AttemptsDropped{absl::MakeConstSpan(&stop.attempt, 1)}, round);
    }
    round->finished.insert(round->finished.end(), actions_.finished.begin(),
                           actions_.finished.end());
    actions_.finished.clear();
  }
  actions_.Clear();
  ArmTimer();
}

/// Gives a worker's core an event and does what follows within this process: launches go into the
/// round, reports straight to the scheduler.
void Dispatcher::ToWorker(Worker* worker, const worker::Event& event, Round* round) {
  worker::Actions& actions = worker->actions;
  actions.Clear();
  const Instant now = Now();
  worker->state.Handle(now, event, &actions);
  SHOAL_CHECK(actions.fetches.empty() && actions.releases.empty());  // Inputs are already here.
  for (const worker::LaunchBatch& batch : actions.batches) {
    auto& lane = worker->lanes[static_cast<size_t>(batch.lane)];
    lane.assign(actions.launches.begin() + batch.begin,
                actions.launches.begin() + batch.begin + batch.count);
    for (const worker::Launch& launch : lane) {
      TaskBody* body = BodyOf(launch.tag);
      body->holds_.fetch_add(1, std::memory_order_relaxed);
      round->launches.push_back({body, {worker->id, launch.attempt, launch.piece}});
    }
  }
  for (const worker::Interrupt& interrupt : actions.interrupts) Interrupt(*worker, interrupt);
  if (actions.reports.empty()) return;
  scheduler_.Handle(now, scheduler::AttemptsEnded{worker->Seat(), actions.reports}, &actions_);
}

void Dispatcher::Interrupt(const Worker& worker, const worker::Interrupt& interrupt) {
  const auto& lane = worker.lanes[static_cast<size_t>(interrupt.lane)];
  const auto launch = std::find_if(lane.begin(), lane.end(), [&](const worker::Launch& running) {
    return running.attempt == interrupt.attempt;
  });
  SHOAL_CHECK(launch != lane.end());  // The core interrupts only what runs on that lane.
  BodyOf(launch->tag)->cancelled_.store(true, std::memory_order_relaxed);
}

void Dispatcher::ArmTimer() {
  Instant next = scheduler_.NextWakeup();
  for (const auto& worker : workers_) next = std::min(next, worker->state.NextWakeup());
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
    for (const auto& worker : workers_) ToWorker(worker.get(), worker::Tick{}, round.get());
    Collect(round.get());
  }
  CarryOut(std::move(round));
}

}  // namespace shoal::runtime
