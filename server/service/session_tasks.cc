#include "server/service/session_tasks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "server/runtime/clock.h"
#include "server/runtime/outcome_status.h"
#include "server/service/call_record.h"
#include "server/wire/status_details.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

// What the scheduler is told that an empty task costs: its own bookkeeping.
constexpr Duration kEmptyTaskCost = std::chrono::nanoseconds(100);

/// The empty tasks of one message: one allocation for all.
class EmptyBatch {
 public:
  class Task final : public runtime::TaskBody {
   public:
    std::optional<core::AttemptOutcome> Run(const runtime::PieceRun&) override {
      return core::AttemptOutcome::kOk;
    }
    void OnFinished(const scheduler::Finished& finished) override { batch->End(this, finished); }
    void Retire() override { batch->Drop(); }

    EmptyBatch* batch = nullptr;
    uint64_t id = 0;
    uint64_t ticket = 0;
    std::atomic<bool> ended = false;
    bool failed = false;  // Written before it is counted as ended.
  };

  EmptyBatch(std::shared_ptr<SessionState> state, int32_t op, size_t count)
      : state_(std::move(state)),
        op_(op),
        begun_(runtime::Now()),
        tasks_(std::make_unique<Task[]>(count)),
        count_(count),
        holds_(count + 1) {}

  /// Schedules all; those that still wait afterwards can be cancelled by their ids.
  void Submit(absl::Span<const Admitted> admitted, Instant session_deadline) {
    std::vector<scheduler::Submission> submissions(count_);
    for (size_t i = 0; i < count_; ++i) {
      Task& task = tasks_[i];
      task.batch = this;
      task.id = admitted[i].task.id;
      task.ticket = admitted[i].ticket;
      scheduler::Submission& submission = submissions[i];
      submission.tag = runtime::Dispatcher::Tag(&task);
      submission.piece.cost = kEmptyTaskCost;
      submission.deadline = DeadlineFor(admitted[i].task, begun_, session_deadline);
    }
    state_->engine.dispatcher->Submit(submissions, &ids_);
    if (ended_count_.load(std::memory_order_acquire) < count_) {
      Register();
      // Who ended the session before that did not find them.
      if (state_->cancelled) state_->engine.dispatcher->Cancel(ids_);
    }
    Drop();
  }

 private:
  // A task that ends while it is being registered: either it sees `registered_`, and takes itself
  // out once the lock is free, or this sees that it has ended.
  void Register() {
    const std::lock_guard lock(state_->mutex);
    registered_.store(true);
    for (size_t i = 0; i < count_; ++i) {
      if (!tasks_[i].ended.load()) state_->running[tasks_[i].id].task = ids_[i];
    }
  }

  void End(Task* task, const scheduler::Finished& finished) {
    task->ended.store(true);
    if (registered_.load()) {
      const std::lock_guard lock(state_->mutex);
      state_->running.erase(task->id);
    }
    const bool ok = finished.outcome == scheduler::Outcome::kOk;
    const absl::Status status = ok ? absl::OkStatus() : runtime::StatusOf(finished);
    if (!ok) RecordFailed(task, finished.task, status.code());
    if (ended_count_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) RecordOthers();
    if (ok) {
      state_->output.Done(task->ticket, task->id);
    } else {
      state_->output.Result(task->ticket, FailedResult(task->id, status));
    }
  }

  CallRecord NewRecord() const {
    CallRecord record;
    record.key = KeyOf(op_, plan::Route::kWorker, telemetry::Plane::kSession);
    record.begun = begun_;
    return record;
  }

  void RecordFailed(Task* task, TaskId id, absl::StatusCode code) {
    CallRecord record = NewRecord();
    record.code = code;
    if (id) record.tasks = absl::MakeConstSpan(&id, 1);
    Record(state_->engine, record);
    task->failed = true;
    failed_count_.fetch_add(1, std::memory_order_relaxed);  // Read after `ended_count_`.
  }

  // Once all have ended, those that went well are told of as one.
  void RecordOthers() {
    const size_t failed = failed_count_.load(std::memory_order_relaxed);
    if (failed == count_) return;
    CallRecord record = NewRecord();
    std::vector<TaskId> well;
    if (failed == 0) {
      record.tasks = ids_;
    } else {
      for (size_t i = 0; i < count_; ++i) {
        if (!tasks_[i].failed) well.push_back(ids_[i]);
      }
      record.tasks = well;
    }
    Record(state_->engine, record, static_cast<int64_t>(count_ - failed));
  }

  void Drop() {
    if (holds_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const std::shared_ptr<SessionState> state_;
  const int32_t op_;
  const Instant begun_;
  const std::unique_ptr<Task[]> tasks_;
  const size_t count_;
  std::vector<TaskId> ids_;  // Filled in by Submit before the first task can end.
  std::atomic<size_t> failed_count_ = 0;
  std::atomic<size_t> ended_count_ = 0;
  std::atomic<bool> registered_ = false;
  std::atomic<size_t> holds_;  // One a task, one for Submit.
};

}  // namespace

std::string FailedResult(uint64_t id, const absl::Status& status) {
  v1::SessionResult result;
  result.set_id(id);
  *result.mutable_status() = wire::ToTaskStatus(runtime::ForClient(status));
  return result.SerializeAsString();
}

Instant DeadlineFor(const SessionTaskView& task, Instant now, Instant session_deadline) {
  using std::chrono::microseconds;
  if (task.timeout_us == 0) return session_deadline;
  // The caller may name more microseconds than there are nanoseconds; less than 0 has passed.
  constexpr auto kMost = std::chrono::duration_cast<microseconds>(Duration::max());
  const microseconds timeout(std::clamp<int64_t>(task.timeout_us, 0, kMost.count()));
  return std::min(session_deadline, runtime::After(now, timeout));
}

void SubmitEmpty(std::shared_ptr<SessionState> state, const EmptyCall& call,
                 absl::Span<const Admitted> tasks) {
  auto* batch = new EmptyBatch(std::move(state), call.op, tasks.size());  // Deletes itself.
  batch->Submit(tasks, call.session_deadline);
}

}  // namespace shoal::service
