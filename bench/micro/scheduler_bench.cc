// What the two pure cores cost for a task, in batches as a driver in one process hands them over.
//
// items_per_second is dispatches a second. Each row checks that every task ended well and fails
// otherwise. Run: build/release/bin/scheduler_bench

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/scheduler/events.h"
#include "server/scheduler/placement.h"
#include "server/scheduler/scheduler_state.h"
#include "server/worker/events.h"
#include "server/worker/worker_state.h"

namespace shoal {
namespace {

constexpr Duration kTaskCost{1'000};
constexpr Duration kRound{10'000};  // Virtual time between two batches.
constexpr int64_t kMemoryBytes = int64_t{1} << 40;

/// What the rows vary.
struct Load {
  int32_t workers = 1;
  int32_t slots = 4096;
  int64_t batch = 1024;
  int32_t pieces = 1;
  int64_t reserve_bytes = 0;
  bool deadlines = false;
  bool pinned = false;
};

scheduler::Seat SeatOf(int32_t worker) { return {WorkerId{worker}, 1}; }

/// A scheduler core, its workers, and a batch of tasks to send through them again and again.
class Rig {
 public:
  explicit Rig(const Load& load) : load_(load), core_({}, scheduler::MakePlacement("least_load")) {
    for (int32_t i = 0; i < load.workers; ++i) {
      core_.Handle(now_,
                   scheduler::WorkerJoined{
                       .seat = SeatOf(i), .memory_bytes = kMemoryBytes, .slots = load.slots},
                   &actions_);
      const worker::Options options{.memory_bytes = kMemoryBytes, .lanes = 4, .batch_max = 1024};
      workers_.push_back(std::make_unique<worker::WorkerState>(options));
    }
    scheduler::Piece piece;
    piece.reserve_bytes = load.reserve_bytes;
    piece.cost = kTaskCost;
    for (int32_t i = 1; i < load.pieces; ++i) {
      if (load.pinned) piece.pinned = WorkerId{i % load.workers};
      more_.push_back(piece);
    }
    if (load.pinned) piece.pinned = WorkerId{0};
    batch_.resize(static_cast<size_t>(load.batch));
    for (size_t i = 0; i < batch_.size(); ++i) {
      batch_[i].tag = i + 1;
      batch_[i].piece = piece;
      batch_[i].more = more_;
    }
  }

  /// Sends the batch through until nothing is left; `with_workers` also through worker cores.
  void Round(bool with_workers) {
    now_ += kRound;
    if (load_.deadlines) {
      for (scheduler::Submission& s : batch_) s.deadline = now_ + std::chrono::seconds(10);
    }
    actions_.Clear();
    core_.Handle(now_, scheduler::TasksSubmitted{batch_}, &actions_);
    submitted_ += load_.batch;
    while (!actions_.assigned.workers().empty()) {
      std::swap(actions_, previous_);
      actions_.Clear();
      for (const WorkerId worker : previous_.assigned.workers()) {
        const auto assignments = previous_.assigned.For(worker);
        const auto ends = with_workers ? RunOnWorker(worker, assignments) : RunAtOnce(assignments);
        core_.Handle(now_, scheduler::AttemptsEnded{SeatOf(worker.value), ends}, &actions_);
      }
      for (const scheduler::Finished& finished : actions_.finished) {
        ok_ += finished.outcome == scheduler::Outcome::kOk ? 1 : 0;
      }
    }
  }

  bool AllWell() const { return ok_ == submitted_ && core_.idle() && core_.Validate().ok(); }
  uint64_t assigned() const { return core_.counts().assigned; }

 private:
  absl::Span<const core::AttemptEnd> RunAtOnce(absl::Span<const core::Assignment> assignments) {
    ends_.clear();
    for (const core::Assignment& a : assignments) {
      ends_.push_back({a.attempt, core::AttemptOutcome::kOk, 0});
    }
    return ends_;
  }

  absl::Span<const core::AttemptEnd> RunOnWorker(WorkerId worker,
                                                 absl::Span<const core::Assignment> assignments) {
    worker::WorkerState& state = *workers_[static_cast<size_t>(worker.value)];
    done_.Clear();
    launched_.Clear();
    state.Handle(now_, worker::AttemptsAssigned{++batch_number_, assignments}, &launched_);
    while (!launched_.launches.empty()) {
      ends_.clear();
      for (const worker::Launch& launch : launched_.launches) {
        ends_.push_back({launch.attempt, core::AttemptOutcome::kOk, 0});
      }
      launched_.launches.clear();
      launched_.batches.clear();
      state.Handle(now_, worker::LaunchesEnded{ends_}, &launched_);
    }
    std::swap(launched_.reports, done_.reports);
    return done_.reports;
  }

  const Load load_;
  scheduler::SchedulerState core_;
  std::vector<std::unique_ptr<worker::WorkerState>> workers_;
  std::vector<scheduler::Piece> more_;
  std::vector<scheduler::Submission> batch_;
  scheduler::Actions actions_;
  scheduler::Actions previous_;
  worker::Actions launched_;
  worker::Actions done_;
  std::vector<core::AttemptEnd> ends_;
  Instant now_{};
  uint64_t batch_number_ = 0;
  int64_t submitted_ = 0;
  int64_t ok_ = 0;
};

void Run(benchmark::State& state, const Load& load, bool with_workers) {
  Rig rig(load);
  for (auto _ : state) rig.Round(with_workers);
  if (!rig.AllWell()) state.SkipWithError("a task did not end well");
  state.SetItemsProcessed(static_cast<int64_t>(rig.assigned()));
}

/// Scheduler core alone, floating FIFO tasks; arguments: workers, tasks a batch.
void BM_Fifo(benchmark::State& state) {
  Load load;
  load.workers = static_cast<int32_t>(state.range(0));
  load.batch = state.range(1);
  Run(state, load, false);
}
BENCHMARK(BM_Fifo)->ArgsProduct({{1, 4, 64, 10'000}, {1, 64, 1024, 65'536}});

/// Scheduler and worker cores; arguments: workers, tasks a batch.
void BM_FifoWithWorkers(benchmark::State& state) {
  Load load;
  load.workers = static_cast<int32_t>(state.range(0));
  load.batch = state.range(1);
  Run(state, load, true);
}
BENCHMARK(BM_FifoWithWorkers)->ArgsProduct({{1, 4, 64}, {1, 64, 1024, 65'536}});

/// Deadlines, memory reservations, more tasks than slots: all features on the way of every task.
void BM_AllFeatures(benchmark::State& state) {
  Load load;
  load.workers = static_cast<int32_t>(state.range(0));
  load.batch = state.range(1);
  load.slots = 128;
  load.reserve_bytes = 4096;
  load.deadlines = true;
  Run(state, load, state.range(2) != 0);
}
BENCHMARK(BM_AllFeatures)->ArgsProduct({{4, 64, 10'000}, {1024, 65'536}, {0, 1}});

/// Tasks of one piece a worker, each pinned, with deadlines; items are pieces.
void BM_PinnedPieces(benchmark::State& state) {
  Load load;
  load.workers = static_cast<int32_t>(state.range(0));
  load.pieces = load.workers;
  load.batch = 1024;
  load.pinned = true;
  load.deadlines = true;
  Run(state, load, state.range(1) != 0);
}
BENCHMARK(BM_PinnedPieces)->ArgsProduct({{1, 4, 64}, {0, 1}});

}  // namespace
}  // namespace shoal

BENCHMARK_MAIN();
