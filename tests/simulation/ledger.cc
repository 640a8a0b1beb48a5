#include "tests/simulation/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shoal::simulation {

using scheduler::Outcome;

namespace {
constexpr Duration kTick{1 << 20};  // Timers may be this late.
}  // namespace

void Ledger::Submitted(Instant /*now*/, const scheduler::Submission& submission) {
  const size_t pieces = submission.more.size() + 1;
  tasks_[submission.tag] = {.deadline = submission.deadline,
                            .retry_safe = submission.retry_safe,
                            .launches = std::vector<int32_t>(pieces, 0),
                            .executed = std::vector<bool>(pieces, false)};
}

void Ledger::Accepted(uint64_t tag, TaskId id) { tasks_.at(tag).id = id; }

void Ledger::Launched(Instant now, uint64_t tag, int32_t piece) {
  Task& task = tasks_.at(tag);
  EXPECT_LT(now, task.deadline) << "task " << tag << " was launched after its deadline";
  const int32_t launches = ++task.launches[static_cast<size_t>(piece)];
  EXPECT_LE(launches, task.retry_safe ? retries_max_ + 1 : 1)
      << "task " << tag << " was started too often";
}

void Ledger::Executed(uint64_t tag, int32_t piece) {
  tasks_.at(tag).executed[static_cast<size_t>(piece)] = true;
}

void Ledger::Finished(Instant now, const scheduler::Finished& finished) {
  ASSERT_TRUE(tasks_.contains(finished.tag));
  Task& task = tasks_.at(finished.tag);
  EXPECT_FALSE(task.outcome.has_value()) << "task " << finished.tag << " ended twice";
  task.outcome = finished.outcome;
  if (task.deadline != kNever && finished.task) {
    EXPECT_LE(now, task.deadline + kTick) << "task " << finished.tag << " outlived its deadline";
  }
  if (finished.outcome == Outcome::kOk) {
    EXPECT_TRUE(std::all_of(task.executed.begin(), task.executed.end(), [](bool b) { return b; }))
        << "task " << finished.tag << " ended well without having run";
  }
  if (finished.outcome == Outcome::kDeadlineExceeded) {
    EXPECT_GE(now, task.deadline) << "task " << finished.tag << " was timed out early";
  }
}

void Ledger::ExpectAllFinished() const {
  for (const auto& [tag, task] : tasks_) {
    EXPECT_TRUE(task.outcome.has_value()) << "task " << tag << " never ended";
  }
}

int64_t Ledger::CountOf(Outcome outcome) const {
  return std::count_if(tasks_.begin(), tasks_.end(),
                       [&](const auto& entry) { return entry.second.outcome == outcome; });
}

}  // namespace shoal::simulation
