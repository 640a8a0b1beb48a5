#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "server/core/attempt.h"
#include "server/scheduler/events.h"
#include "server/worker/worker_state.h"
#include "tests/simulation/ledger.h"
#include "tests/simulation/virtual_time.h"

namespace shoal::simulation {

/// What all parts of one run share.
struct World {
  explicit World(uint64_t seed, int32_t retries_max) : random(seed), ledger(retries_max) {}

  EventQueue time;
  Random random;
  ActionLog log;
  Ledger ledger;
};

/// One life of a worker process: a worker core, and a device that takes its time.
///
/// After `Die` it is deaf and dumb, but stays in memory, since plans may still name it.
class VirtualWorker {
 public:
  using Send = std::function<void(std::vector<core::AttemptEnd>)>;

  /// `send` takes its reports to the network.
  VirtualWorker(World* world, scheduler::Seat seat, const worker::Options& options, Send send);

  void Assign(uint64_t batch, const std::vector<core::Assignment>& assignments);
  void Drop(const std::vector<AttemptId>& attempts);
  void Store(int64_t bytes);
  void Drain();
  void Die() { dead_ = true; }

  scheduler::Seat seat() const { return seat_; }
  const worker::Options& options() const { return options_; }
  bool dead() const { return dead_; }
  const worker::WorkerState& core() const { return core_; }

 private:
  void Handle(const worker::Event& event);
  void Perform(const worker::Actions& actions);
  void Run(const worker::LaunchBatch& batch, const worker::Actions& actions);
  void End(const worker::Launch& launch);
  void PlanTick();

  World* world_;
  scheduler::Seat seat_;
  worker::Options options_;
  Send send_;
  worker::WorkerState core_;
  bool dead_ = false;
  std::set<AttemptId> running_;
  std::set<AttemptId> interrupted_;
  Instant tick_ = kNever;
};

}  // namespace shoal::simulation
