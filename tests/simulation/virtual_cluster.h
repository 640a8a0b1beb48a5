#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/scheduler/scheduler_state.h"
#include "tests/simulation/virtual_worker.h"

namespace shoal::simulation {

/// One run: a scheduler core, worker cores, a network between them, clients, and faults, all in
/// virtual time and all from one seed.
///
/// The network keeps the order within one life of a worker, as a stream does; it delays, repeats
/// what was sent, delivers late what a dead worker said, and is cut. Which faults a run has at
/// all is drawn from the seed.
class VirtualCluster {
 public:
  struct Options {
    uint64_t seed = 1;
    int32_t workers = 50;
    int32_t tasks = 1000;
  };

  explicit VirtualCluster(const Options& options);

  /// Faults and load for a while; then heals everything and drains. Afterwards every task must
  /// have ended and nothing be left anywhere.
  void Run();

  uint64_t log_hash() const { return world_.log.hash(); }
  int64_t log_size() const { return world_.log.size(); }
  const Ledger& ledger() const { return world_.ledger; }
  const scheduler::SchedulerState& core() const { return core_; }

 private:
  /// A life and its two streams.
  struct Life {
    std::unique_ptr<VirtualWorker> worker;
    bool cut = false;  // Nothing more gets through, but for what is late.
    bool drained = false;
    Instant down_until{};  // Order of the stream to the worker...
    Instant up_until{};    // ...and from it.
    uint64_t last_batch = 0;
  };
  /// How often each fault comes, one in so many chances; 0 is never.
  struct Faults {
    int64_t death = 0;
    int64_t cut = 0;
    int64_t repetition = 0;
    int64_t drain = 0;
    int64_t lateness = 0;
  };

  void Handle(const scheduler::Event& event);
  void Perform(const scheduler::Actions& actions);
  void PlanTick();

  void Join(int32_t worker);
  void Down(Life* life, std::function<void(VirtualWorker&)> deliver);
  void Up(Life* life, std::vector<core::AttemptEnd> ends);
  void Lose(Life* life, bool process_dies);
  void MaybeFault(int32_t worker);
  void DrainWorker(Life* life);
  void StoreOn(int32_t worker);

  void PlanClients();
  void SubmitBatch(int32_t count);
  scheduler::Submission MakeTask(std::vector<scheduler::Piece>* more);
  scheduler::Piece MakePiece(bool may_pin);

  bool Happens(int64_t one_in) { return one_in > 0 && world_.random.OneIn(one_in); }
  Life* Current(int32_t worker) { return lives_[static_cast<size_t>(worker)].back().get(); }

  Options options_;
  scheduler::Options scheduler_options_;
  World world_;
  scheduler::SchedulerState core_;
  Faults faults_;
  bool burst_ = false;
  int32_t slots_max_ = 0;
  bool healed_ = false;
  Instant tick_ = kNever;
  uint64_t last_tag_ = 0;
  std::vector<std::vector<std::unique_ptr<Life>>> lives_;  // By worker, oldest first.
};

}  // namespace shoal::simulation
