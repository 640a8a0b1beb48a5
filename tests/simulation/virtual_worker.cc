#include "tests/simulation/virtual_worker.h"

#include <gtest/gtest.h>

#include <utility>

namespace shoal::simulation {

using core::AttemptOutcome;
using std::chrono::microseconds;
using std::chrono::milliseconds;

VirtualWorker::VirtualWorker(World* world, scheduler::Seat seat, const worker::Options& options,
                             Send send)
    : world_(world), seat_(seat), options_(options), send_(std::move(send)), core_(options) {}

void VirtualWorker::Assign(uint64_t batch, const std::vector<core::Assignment>& assignments) {
  Handle(worker::AttemptsAssigned{batch, assignments});
}

void VirtualWorker::Drop(const std::vector<AttemptId>& attempts) {
  Handle(worker::AttemptsDropped{attempts});
}

void VirtualWorker::Store(int64_t bytes) { Handle(worker::MemoryChanged{bytes}); }

void VirtualWorker::Drain() { Handle(worker::Drain{}); }

void VirtualWorker::Handle(const worker::Event& event) {
  if (dead_) return;
  worker::Actions actions;
  core_.Handle(world_->time.now(), event, &actions);
  EXPECT_EQ(core_.Validate(), absl::OkStatus());
  Perform(actions);
  PlanTick();
}

void VirtualWorker::Perform(const worker::Actions& actions) {
  for (const worker::Fetch& fetch : actions.fetches) {
    const Duration delay = world_->random.Between(microseconds(50), milliseconds(5));
    const bool ok = !world_->random.OneIn(50);
    world_->time.After(delay, [this, attempt = fetch.attempt, ok] {
      Handle(worker::InputsReady{attempt, ok});
    });
  }
  for (const worker::LaunchBatch& batch : actions.batches) Run(batch, actions);
  for (const worker::Interrupt& interrupt : actions.interrupts) {
    EXPECT_TRUE(running_.contains(interrupt.attempt));
    interrupted_.insert(interrupt.attempt);
  }
  for (const core::AttemptEnd& end : actions.reports) {
    world_->log.Add(end.attempt.value ^ static_cast<uint64_t>(end.outcome) << 56);
  }
  if (!actions.reports.empty()) send_(actions.reports);
}

// One after another; each takes a time of its own, whatever was estimated.
void VirtualWorker::Run(const worker::LaunchBatch& batch, const worker::Actions& actions) {
  Duration until{};
  for (int64_t i = batch.begin; i < batch.begin + batch.count; ++i) {
    const worker::Launch launch = actions.launches[static_cast<size_t>(i)];
    world_->ledger.Launched(world_->time.now(), launch.tag, launch.piece);
    running_.insert(launch.attempt);
    const bool slow = world_->random.OneIn(20);
    until += world_->random.Between(microseconds(5), slow ? milliseconds(50) : milliseconds(2));
    world_->time.After(until, [this, launch] { End(launch); });
  }
}

void VirtualWorker::End(const worker::Launch& launch) {
  if (dead_) return;
  const bool heeded = interrupted_.erase(launch.attempt) > 0 && !world_->random.OneIn(3);
  AttemptOutcome outcome = AttemptOutcome::kOk;
  if (heeded) {
    outcome = AttemptOutcome::kCancelled;
  } else if (world_->random.OneIn(50)) {
    outcome = world_->random.OneIn(5) ? AttemptOutcome::kOutOfMemory : AttemptOutcome::kFailed;
  } else {
    world_->ledger.Executed(launch.tag, launch.piece);
  }
  running_.erase(launch.attempt);
  const std::vector<core::AttemptEnd> ends{{launch.attempt, outcome, 0}};
  Handle(worker::LaunchesEnded{ends});
}

void VirtualWorker::PlanTick() {
  const Instant next = core_.NextWakeup();
  if (next == kNever || (next >= tick_ && tick_ > world_->time.now())) return;
  tick_ = next;
  world_->time.At(next, [this, next] {
    if (tick_ != next) return;
    tick_ = kNever;
    Handle(worker::Tick{});
  });
}

}  // namespace shoal::simulation
