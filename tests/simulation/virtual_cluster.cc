#include "tests/simulation/virtual_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "server/scheduler/placement.h"

namespace shoal::simulation {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration kLoadTime = seconds(1);         // Clients submit during this time...
constexpr Duration kBurstTime = milliseconds(60);  // ...or all within this.
constexpr Duration kFaultTime = seconds(2);        // Faults come during this time.
constexpr Duration kHealTime = seconds(120);       // Everything must have ended by then.
constexpr Duration kDetection = milliseconds(100);

scheduler::Options SchedulerOptions() {
  scheduler::Options options;
  options.queue_pieces_max = 400;
  options.retries_max = 2;
  options.memory_wait = milliseconds(500);
  options.no_worker_wait = seconds(1);
  return options;
}

}  // namespace

VirtualCluster::VirtualCluster(const Options& options)
    : options_(options),
      scheduler_options_(SchedulerOptions()),
      world_(options.seed, scheduler_options_.retries_max),
      core_(scheduler_options_, scheduler::MakePlacement("least_load")),
      lives_(static_cast<size_t>(options.workers)) {
  const auto rate = [&](int64_t low, int64_t high) {
    return world_.random.OneIn(3) ? 0 : world_.random.Between(low, high);
  };
  faults_ = {.death = rate(4, 40),
             .cut = rate(4, 40),
             .repetition = rate(2, 20),
             .drain = rate(20, 100),
             .lateness = rate(1, 4)};
  burst_ = world_.random.OneIn(3);
  slots_max_ = world_.random.OneIn(2) ? 4 : 32;
}

void VirtualCluster::Run() {
  for (int32_t i = 0; i < options_.workers; ++i) {
    world_.time.After(world_.random.Between(Duration{}, milliseconds(20)), [this, i] { Join(i); });
    for (Duration at = milliseconds(50); at < kFaultTime; at += milliseconds(100)) {
      world_.time.After(at + world_.random.Between(Duration{}, milliseconds(99)), [this, i] {
        StoreOn(i);
        MaybeFault(i);
      });
    }
  }
  PlanClients();
  while (world_.time.RunNext(Instant{kFaultTime})) {
  }
  healed_ = true;
  Handle(scheduler::Drain{});
  while (world_.time.RunNext(Instant{kFaultTime + kHealTime})) {
  }
  world_.ledger.ExpectAllFinished();
  EXPECT_TRUE(core_.idle());
  for (int32_t i = 0; i < options_.workers; ++i) {
    EXPECT_TRUE(Current(i)->worker->core().idle()) << "worker " << i;
  }
}

// --- The scheduler's driver ---

void VirtualCluster::Handle(const scheduler::Event& event) {
  scheduler::Actions actions;
  core_.Handle(world_.time.now(), event, &actions);
  EXPECT_EQ(core_.Validate(), absl::OkStatus());
  if (const auto* submitted = std::get_if<scheduler::TasksSubmitted>(&event)) {
    ASSERT_EQ(actions.accepted.size(), submitted->tasks.size());
    for (size_t i = 0; i < actions.accepted.size(); ++i) {
      world_.ledger.Accepted(submitted->tasks[i].tag, actions.accepted[i]);
    }
  }
  Perform(actions);
  PlanTick();
}

void VirtualCluster::Perform(const scheduler::Actions& actions) {
  for (const WorkerId worker : actions.assigned.workers()) {
    const auto span = actions.assigned.For(worker);
    std::vector<core::Assignment> assignments(span.begin(), span.end());
    for (const core::Assignment& a : assignments) {
      world_.log.Add(a.attempt.value);
      world_.log.Add(a.tag << 32 | static_cast<uint32_t>(worker.value));
    }
    Life* life = Current(worker.value);
    const uint64_t batch = ++life->last_batch;
    Down(life, [batch, assignments](VirtualWorker& w) { w.Assign(batch, assignments); });
  }
  for (const scheduler::Stop& stop : actions.stops) {
    world_.log.Add(~stop.attempt.value);
    const std::vector<AttemptId> attempts{stop.attempt};
    Down(Current(stop.worker.value), [attempts](VirtualWorker& w) { w.Drop(attempts); });
  }
  for (const scheduler::Finished& finished : actions.finished) {
    world_.log.Add(finished.tag << 8 | static_cast<uint64_t>(finished.outcome));
    world_.ledger.Finished(world_.time.now(), finished);
  }
}

void VirtualCluster::PlanTick() {
  const Instant next = core_.NextWakeup();
  if (next == kNever || (next >= tick_ && tick_ > world_.time.now())) return;
  tick_ = next;
  world_.time.At(next, [this, next] {
    if (tick_ != next) return;
    tick_ = kNever;
    Handle(scheduler::Tick{});
  });
}

// --- The network ---

void VirtualCluster::Down(Life* life, std::function<void(VirtualWorker&)> deliver) {
  const Duration delay = world_.random.Between(microseconds(20), milliseconds(2));
  life->down_until = std::max(life->down_until, world_.time.now() + delay);
  const auto arrive = [life, deliver = std::move(deliver)] {
    if (!life->cut) deliver(*life->worker);
  };
  world_.time.At(life->down_until, arrive);
  if (Happens(faults_.repetition)) world_.time.At(life->down_until + delay, arrive);
}

void VirtualCluster::Up(Life* life, std::vector<core::AttemptEnd> ends) {
  const Duration delay = world_.random.Between(microseconds(20), milliseconds(2));
  life->up_until = std::max(life->up_until, world_.time.now() + delay);
  const auto arrive = [this, life, ends = std::move(ends)] {
    Handle(scheduler::AttemptsEnded{life->worker->seat(), ends});
  };
  // What was on its way when the stream was cut is lost, or comes very late.
  world_.time.At(life->up_until, [this, life, arrive] {
    if (!life->cut) return arrive();
    if (Happens(faults_.lateness)) {
      world_.time.After(world_.random.Between(milliseconds(1), milliseconds(800)), arrive);
    }
  });
  if (Happens(faults_.repetition)) {
    world_.time.After(world_.random.Between(milliseconds(2), milliseconds(300)), arrive);
  }
}

// --- Workers and what befalls them ---

void VirtualCluster::Join(int32_t worker) {
  auto& lives = lives_[static_cast<size_t>(worker)];
  const scheduler::Seat seat{WorkerId{worker}, lives.size() + 1};
  const worker::Options options{.memory_bytes = world_.random.Between(1000, 4000),
                                .lanes = static_cast<int32_t>(world_.random.Between(1, 4)),
                                .batch_max = static_cast<int32_t>(world_.random.Between(1, 16))};
  auto life = std::make_unique<Life>();
  life->worker = std::make_unique<VirtualWorker>(
      &world_, seat, options,
      [this, l = life.get()](std::vector<core::AttemptEnd> ends) { Up(l, std::move(ends)); });
  lives.push_back(std::move(life));
  Handle(
      scheduler::WorkerJoined{.seat = seat,
                              .memory_bytes = options.memory_bytes,
                              .slots = static_cast<int32_t>(world_.random.Between(1, slots_max_)),
                              .lanes = options.lanes,
                              .window = milliseconds(world_.random.Between(1, 100))});
}

// The process dies, or only its stream is cut: then it gives up what it has, since it will never
// be believed again. Either way the scheduler notices later, sometimes only by the next greeting.
void VirtualCluster::Lose(Life* life, bool process_dies) {
  if (life->cut) return;
  life->cut = true;
  const scheduler::Seat seat = life->worker->seat();
  if (process_dies) {
    life->worker->Die();
  } else {
    world_.time.After(kDetection, [life] { life->worker->Die(); });
  }
  world_.time.After(world_.random.Between(milliseconds(1), 2 * kDetection),
                    [this, seat] { Handle(scheduler::WorkerLost{seat}); });
  world_.time.After(world_.random.Between(kDetection, 5 * kDetection),
                    [this, seat] { Join(seat.worker.value); });
}

void VirtualCluster::MaybeFault(int32_t worker) {
  if (healed_ || lives_[static_cast<size_t>(worker)].empty()) return;
  Life* life = Current(worker);
  if (Happens(faults_.death)) {
    Lose(life, true);
  } else if (Happens(faults_.cut)) {
    Lose(life, false);
  } else if (!life->drained && Happens(faults_.drain)) {
    DrainWorker(life);
  }
}

// A worker that was told to drain leaves a while later, with what it still has.
void VirtualCluster::DrainWorker(Life* life) {
  life->drained = true;
  Down(life, [](VirtualWorker& w) { w.Drain(); });
  const scheduler::Seat seat = life->worker->seat();
  if (world_.random.OneIn(2)) Handle(scheduler::WorkerDraining{seat});
  world_.time.After(milliseconds(300), [this, life] { Lose(life, true); });
}

void VirtualCluster::StoreOn(int32_t worker) {
  if (healed_ || lives_[static_cast<size_t>(worker)].empty()) return;
  Life* life = Current(worker);
  if (life->cut) return;
  const int64_t bytes = world_.random.Between(0, life->worker->options().memory_bytes / 2);
  life->worker->Store(bytes);
  Handle(scheduler::MemoryChanged{life->worker->seat(), bytes});
}

// --- Clients ---

void VirtualCluster::PlanClients() {
  for (int32_t left = options_.tasks; left > 0;) {
    const auto count = static_cast<int32_t>(std::min<int64_t>(left, world_.random.Between(1, 20)));
    left -= count;
    world_.time.After(world_.random.Between(milliseconds(30), burst_ ? kBurstTime : kLoadTime),
                      [this, count] { SubmitBatch(count); });
  }
}

void VirtualCluster::SubmitBatch(int32_t count) {
  std::vector<std::vector<scheduler::Piece>> more(static_cast<size_t>(count));
  std::vector<scheduler::Submission> batch;
  for (std::vector<scheduler::Piece>& pieces : more) {
    batch.push_back(MakeTask(&pieces));
    world_.ledger.Submitted(world_.time.now(), batch.back());
  }
  Handle(scheduler::TasksSubmitted{batch});
  for (const scheduler::Submission& submission : batch) {
    if (!world_.random.OneIn(15)) continue;
    world_.time.After(world_.random.Between(Duration{}, milliseconds(50)),
                      [this, tag = submission.tag] {
                        const std::vector<TaskId> ids{world_.ledger.IdOf(tag)};
                        Handle(scheduler::TasksCancelled{ids});
                      });
  }
}

scheduler::Submission VirtualCluster::MakeTask(std::vector<scheduler::Piece>* more) {
  const bool may_pin = world_.random.OneIn(4);
  if (world_.random.OneIn(6)) {
    more->resize(static_cast<size_t>(world_.random.Between(1, 7)));
    for (scheduler::Piece& piece : *more) piece = MakePiece(may_pin);
  }
  scheduler::Submission submission{.tag = ++last_tag_,
                                   .piece = MakePiece(may_pin),
                                   .more = *more,
                                   .retry_safe = !world_.random.OneIn(5)};
  if (world_.random.OneIn(3)) {
    submission.deadline = world_.time.now() + world_.random.Between(Duration{}, milliseconds(400));
  }
  return submission;
}

scheduler::Piece VirtualCluster::MakePiece(bool may_pin) {
  scheduler::Piece piece{.cost = world_.random.Between(Duration{}, milliseconds(2)),
                         .needs_inputs = world_.random.OneIn(3)};
  if (world_.random.OneIn(2)) piece.reserve_bytes = world_.random.Between(1, 1500);
  if (may_pin && world_.random.OneIn(2)) {
    piece.pinned = WorkerId{static_cast<int32_t>(world_.random.Between(0, options_.workers - 1))};
  }
  return piece;
}

}  // namespace shoal::simulation
