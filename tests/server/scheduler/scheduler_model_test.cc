// The scheduler core against the reference, on event sequences that RapidCheck makes and shrinks.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <vector>

#include "server/scheduler/placement.h"
#include "server/scheduler/scheduler_state.h"
#include "tests/server/scheduler/reference_scheduler.h"

namespace shoal::scheduler {

/// One step of a run: what to do, and numbers that every kind reads in its own way, so that any
/// sequence is legal and stays so while it shrinks.
struct Step {
  int kind = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
};

void showValue(const Step& step, std::ostream& out) {
  out << "{" << step.kind << ", " << step.a << ", " << step.b << ", " << step.c << "}";
}

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int32_t kWorkers = 3;

rc::Gen<Step> StepGen() {
  const auto number = rc::gen::inRange<uint32_t>(0, 1000);
  return rc::gen::build<Step>(
      rc::gen::set(
          &Step::kind,
          rc::gen::weightedElement<int>(
              {{8, 0}, {12, 1}, {2, 2}, {3, 3}, {1, 4}, {1, 5}, {2, 6}, {4, 7}, {1, 8}, {1, 9}})),
      rc::gen::set(&Step::a, number), rc::gen::set(&Step::b, number),
      rc::gen::set(&Step::c, number));
}

/// Turns steps into events for the core and shows each to the reference.
class Run {
 public:
  explicit Run(const Options& options)
      : core_(options, MakePlacement("least_load")), reference_(options) {}

  void Do(const Step& step) {
    switch (step.kind) {
      case 0:
        return Submit(step);
      case 1:
        return End(step);
      case 2:
        return Cancel(step);
      case 3:
        return Send(
            WorkerJoined{.seat = {WorkerAt(step.a), incarnations_[step.a % kWorkers] += step.b % 2},
                         .memory_bytes = 50 + step.c % 100,
                         .slots = 1 + static_cast<int32_t>(step.b % 4)});
      case 4:
        return Send(WorkerLost{SeatAt(step)});
      case 5:
        return Send(WorkerDraining{SeatAt(step)});
      case 6:
        return Send(MemoryChanged{SeatAt(step), step.c % 120});
      case 7:
        now_ += microseconds(step.a * step.b % 5000);
        return Send(Tick{});
      case 8:
        now_ = std::max(now_, std::min(core_.NextWakeup(), now_ + milliseconds(500)));
        return Send(Tick{});
      default:
        if (step.a % 8 == 0) return Send(Drain{});
        now_ += milliseconds(step.b);
        return Send(Tick{});
    }
  }

  /// Ends everything and sees that nothing is left.
  void Finish() {
    for (int round = 0; round < 1000 && !core_.idle(); ++round) {
      now_ += milliseconds(100);
      Send(Tick{});
      while (!reference_.attempts().empty()) End({1, 0, 0, 0});
    }
    RC_ASSERT(core_.idle());
    RC_ASSERT(reference_.LiveTasks().empty());
  }

 private:
  static WorkerId WorkerAt(uint32_t number) {
    return WorkerId{static_cast<int32_t>(number % kWorkers)};
  }
  // Mostly the present incarnation, sometimes an older one.
  Seat SeatAt(const Step& step) const {
    const uint64_t incarnation = incarnations_[step.a % kWorkers];
    return {WorkerAt(step.a), step.b % 5 == 0 ? incarnation - 1 : incarnation};
  }

  void Send(const Event& event) {
    Actions actions;
    core_.Handle(now_, event, &actions);
    RC_ASSERT(core_.Validate() == absl::OkStatus());
    const std::vector<std::string> wrong =
        reference_.Observe(now_, event, actions, core_.counts().parked);
    for (const std::string& line : wrong) RC_LOG() << line << "\n";
    RC_ASSERT(wrong.empty());
    RC_ASSERT(core_.counts().in_flight == static_cast<int64_t>(reference_.attempts().size()));
  }

  static Piece PieceOf(uint32_t number) {
    Piece piece;
    piece.reserve_bytes = number % 3 == 0 ? 0 : number % 130;
    piece.cost = Duration{number % 7 * 100};
    if (number % 4 == 3) piece.pinned = WorkerAt(number / 4);
    return piece;
  }

  void Submit(const Step& step) {
    std::vector<Piece> more;
    for (uint32_t i = 1; i < step.c % 4; ++i) more.push_back(PieceOf(step.b * 31 + i * 17));
    std::vector<Submission> batch(1 + step.a % 4);
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto salt = static_cast<uint32_t>(i) * 101;
      batch[i].tag = ++last_tag_;
      batch[i].piece = PieceOf(step.a + salt);
      if (i == 0) batch[i].more = more;
      if ((step.b + salt) % 3 == 0)
        batch[i].deadline = now_ + microseconds((step.c + salt) * 7 % 9000);
      batch[i].retry_safe = (step.c + salt) % 5 != 0;
    }
    Send(TasksSubmitted{batch});
  }

  void End(const Step& step) {
    std::vector<core::AttemptEnd> ends;
    if (!last_end_.empty() && step.c % 7 == 1) ends = last_end_;  // A repetition.
    Seat seat{WorkerAt(step.a), incarnations_[step.a % kWorkers]};
    if (!reference_.attempts().empty()) {
      const auto size = static_cast<uint32_t>(reference_.attempts().size());
      auto it = std::next(reference_.attempts().begin(), static_cast<int>(step.a % size));
      seat = core_.Find(it->second.worker).seat;
      for (uint32_t i = 0; i <= step.b % 3 && it != reference_.attempts().end(); ++i, ++it) {
        const auto outcome = step.c % 4 == 3 ? static_cast<core::AttemptOutcome>(step.b % 6)
                                             : core::AttemptOutcome::kOk;
        ends.push_back({it->first, outcome, 0});
      }
    }
    last_end_ = ends;
    Send(AttemptsEnded{seat, ends});
  }

  void Cancel(const Step& step) {
    std::vector<TaskId> ids{TaskId{step.c}};
    const std::map<uint64_t, TaskId> live = reference_.LiveTasks();
    if (!live.empty()) {
      ids.push_back(std::next(live.begin(), static_cast<int>(step.a % live.size()))->second);
      if (step.b % 2 == 0) ids.push_back(ids.back());
    }
    Send(TasksCancelled{ids});
  }

  SchedulerState core_;
  ReferenceScheduler reference_;
  Instant now_{};
  uint64_t last_tag_ = 0;
  uint64_t incarnations_[kWorkers] = {1, 1, 1};
  std::vector<core::AttemptEnd> last_end_;
};

void Check(int64_t queue_pieces_max, int retries_max, const std::vector<Step>& steps) {
  Options options;
  options.queue_pieces_max = queue_pieces_max;
  options.retries_max = retries_max;
  options.memory_wait = milliseconds(20);
  options.no_worker_wait = milliseconds(50);
  Run run(options);
  for (int32_t i = 0; i < kWorkers - 1; ++i) {
    run.Do({3, static_cast<uint32_t>(i), 3, 80});
  }
  for (const Step& step : steps) run.Do(step);
  run.Finish();
}

RC_GTEST_PROP(SchedulerModelTest, AgreesWithTheReference, ()) {
  const auto queue_pieces_max = *rc::gen::element<int64_t>(0, 5, 40, 1000);
  const int retries_max = *rc::gen::inRange(0, 3);
  Check(queue_pieces_max, retries_max,
        *rc::gen::scale(3.0, rc::gen::container<std::vector<Step>>(StepGen())));
}

// What such a run found once.
RC_GTEST_PROP(SchedulerModelTest, AgreesWhereItOnceDidNot, ()) {
  Check(1000, 0,
        {{0, 76, 267, 2},
         {3, 281, 1, 0},
         {0, 27, 0, 4},
         {1, 42, 0, 0},
         {0, 134, 0, 4},
         {0, 0, 238, 363},
         {1, 76, 641, 763}});
}

}  // namespace
}  // namespace shoal::scheduler
