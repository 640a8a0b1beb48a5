#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "server/runtime/task_body.h"
#include "tests/support/inbox.h"

namespace shoal::runtime {

/// What bodies tell the test.
struct Diary {
  struct Run {
    class Probe* body;
    PieceRun piece;
  };
  support::Inbox<Run> runs;
  support::Inbox<scheduler::Outcome> ends;
  std::atomic<int> finished = 0;
  std::atomic<int> retired = 0;
};

/// A body that ends at once with `outcome`, or when the test says so.
class Probe final : public TaskBody {
 public:
  explicit Probe(Diary* diary, std::optional<core::AttemptOutcome> run_outcome = std::nullopt)
      : diary_(*diary), run_outcome_(run_outcome) {}

  std::optional<core::AttemptOutcome> Run(const PieceRun& run) override {
    run_thread = std::this_thread::get_id();
    const auto ended = run_outcome_;
    diary_.runs.Put({this, run});  // From here on the test may end it.
    return ended;
  }
  void OnFinished(const scheduler::Finished& how) override {
    EXPECT_EQ(finished.fetch_add(1), 0) << "finished twice";
    EXPECT_EQ(retired, 0) << "finished after it was retired";
    finish_thread = std::this_thread::get_id();
    outcome = how.outcome;
    if (block_finish != nullptr) block_finish->Take();
    ++diary_.finished;
    diary_.ends.Put(how.outcome);
  }
  void Retire() override {
    EXPECT_EQ(retired.fetch_add(1), 0) << "retired twice";
    EXPECT_EQ(finished, 1) << "retired before it was finished";
    ++diary_.retired;
  }

  std::atomic<int> finished = 0;
  std::atomic<int> retired = 0;
  scheduler::Outcome outcome = scheduler::Outcome::kOk;
  std::thread::id run_thread;
  std::thread::id finish_thread;
  support::Inbox<bool>* block_finish = nullptr;

 private:
  Diary& diary_;
  const std::optional<core::AttemptOutcome> run_outcome_;
};

}  // namespace shoal::runtime
