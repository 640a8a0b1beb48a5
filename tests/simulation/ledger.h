#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/time.h"
#include "server/core/attempt.h"
#include "server/scheduler/events.h"

namespace shoal::simulation {

/// What clients and devices saw of each task, and whether that may be so. Breaches are test
/// failures.
class Ledger {
 public:
  explicit Ledger(int32_t retries_max) : retries_max_(retries_max) {}

  void Submitted(Instant now, const scheduler::Submission& submission);
  void Accepted(uint64_t tag, TaskId id);
  void Launched(Instant now, uint64_t tag, int32_t piece);
  void Executed(uint64_t tag, int32_t piece);
  void Finished(Instant now, const scheduler::Finished& finished);

  /// Every task reached its one terminal state.
  void ExpectAllFinished() const;

  TaskId IdOf(uint64_t tag) const { return tasks_.at(tag).id; }
  int64_t CountOf(scheduler::Outcome outcome) const;
  int64_t size() const { return static_cast<int64_t>(tasks_.size()); }

 private:
  struct Task {
    TaskId id{};
    Instant deadline = kNever;
    bool retry_safe = true;
    std::vector<int32_t> launches{};  // By piece.
    std::vector<bool> executed{};     // By piece: some attempt ran it to its end.
    std::optional<scheduler::Outcome> outcome{};
  };

  int32_t retries_max_;
  std::map<uint64_t, Task> tasks_;  // By tag.
};

}  // namespace shoal::simulation
