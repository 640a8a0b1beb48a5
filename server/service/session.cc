#include "server/service/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "server/runtime/call_run.h"
#include "server/runtime/outcome_status.h"
#include "server/service/call_record.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/service/session_codec.h"
#include "server/service/session_output.h"
#include "server/wire/call_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

// A caller that does not read its results is not read from either.
constexpr int64_t kWaitingBytesMax = 4 * kMiB;
// What the scheduler is told that an empty task costs: its own bookkeeping.
constexpr Duration kEmptyTaskCost = std::chrono::nanoseconds(100);

std::string FailedResult(uint64_t id, const absl::Status& status) {
  v1::SessionResult result;
  result.set_id(id);
  *result.mutable_status() = wire::ToTaskStatus(runtime::ForClient(status));
  return result.SerializeAsString();
}

/// An echo of nothing, scheduled like any task, with nothing to run. Recognised by its bytes when
/// it comes again: a flood decodes one.
struct EmptyCall {
  std::string bytes;
  int32_t op = 0;
};

/// What tasks under way share with the stream. Its owners are the stream and each of them.
struct SessionState {
  SessionState(runtime::Engine* the_engine, transport::StreamCall* call)
      : engine(*the_engine), output(call, the_engine->limits.message_bytes()) {}

  runtime::Engine& engine;
  SessionOutput output;

  struct Running {
    TaskId task;                            // Of an empty task.
    std::shared_ptr<runtime::CallRun> run;  // Of any other.
  };
  std::mutex mutex;
  absl::flat_hash_map<uint64_t, Running> running;  // By the client's id.
  std::atomic<bool> cancelled = false;             // Written under the mutex.
  std::atomic<int64_t> in_flight = 0;
};

Instant DeadlineFor(const SessionTaskView& task, Instant now, Instant session_deadline) {
  using std::chrono::microseconds;
  if (task.timeout_us == 0) return session_deadline;
  // The caller may name more microseconds than there are nanoseconds; less than 0 has passed.
  constexpr auto kMost = std::chrono::duration_cast<microseconds>(Duration::max());
  const microseconds timeout(std::clamp<int64_t>(task.timeout_us, 0, kMost.count()));
  return std::min(session_deadline, runtime::After(now, timeout));
}

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
  void Submit(absl::Span<const SessionTaskView> views, Instant session_deadline) {
    const uint64_t first_ticket = state_->output.Begin(count_);
    std::vector<scheduler::Submission> submissions(count_);
    for (size_t i = 0; i < count_; ++i) {
      Task& task = tasks_[i];
      task.batch = this;
      task.id = views[i].id;
      task.ticket = first_ticket + i;
      scheduler::Submission& submission = submissions[i];
      submission.tag = runtime::Dispatcher::Tag(&task);
      submission.piece.cost = kEmptyTaskCost;
      submission.deadline = DeadlineFor(views[i], begun_, session_deadline);
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
    // Counted before it is told: who has a result may send the next task at once.
    state_->in_flight.fetch_sub(1, std::memory_order_relaxed);
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

class Session final : public transport::StreamHandler {
 public:
  Session(runtime::Engine* engine, transport::StreamCall* call)
      : engine_(*engine),
        call_(call),
        begun_(runtime::Now()),
        state_(std::make_shared<SessionState>(engine, call)) {
    engine_.sessions.fetch_add(1, std::memory_order_relaxed);
  }
  ~Session() override { engine_.sessions.fetch_sub(1, std::memory_order_relaxed); }

  void OnStart() override {
    auto ticket = engine_.drain.Admit();
    if (!ticket.ok()) return state_->output.Finish(ticket.status(), /*drop_results=*/true);
    ticket_ = *std::move(ticket);
    state_->output.SendCredits(engine_.limits.session_tasks);
    state_->output.Read();
    // Tasks in flight end and their results leave; then the session ends too.
    drain_watch_ = engine_.drain.Watch([state = state_] {
      state->output.Finish(state->engine.drain.Check(), /*drop_results=*/false);
    });
  }

  void OnMessage(transport::Message message) override {
    batch_.Clear();
    const absl::string_view bytes = Flatten(message);
    if (const absl::Status decoded = DecodeSessionRequest(bytes, &batch_); !decoded.ok()) {
      return End(decoded);
    }
    if (batch_.has_open && !first_) {
      // Tasks under way have been promised an order.
      return End(absl::InvalidArgumentError("open: only in the first message"));
    }
    first_ = false;
    if (batch_.ordered) state_->output.set_ordered();
    state_->output.Hold();
    RunTasks();
    CancelTasks();
    state_->output.Release();
    // Only now: a read asked for earlier could bring the next message while this one is handled.
    reading_.store(false, std::memory_order_release);
    ReadIfRoom();
  }

  void OnHalfClose() override { state_->output.Finish(absl::OkStatus(), /*drop_results=*/false); }

  void OnWritten(bool ok) override {
    state_->output.OnWritten(ok);
    ReadIfRoom();
  }

  void OnCancelled() override { End(absl::CancelledError("the caller went away")); }

  void OnDone() override {
    engine_.drain.Unwatch(drain_watch_);
    LogCall(engine_, {"Session", call_, begun_}, state_->output.finish_status());
  }

 private:
  absl::string_view Flatten(const transport::Message& message) {
    const wire::Pieces& pieces = message.pieces();
    if (pieces.size() == 1) {
      return {reinterpret_cast<const char*>(pieces[0].data()), pieces[0].size()};
    }
    flat_.resize(static_cast<size_t>(wire::TotalBytes(pieces)));
    wire::GatherPieces(pieces, reinterpret_cast<std::byte*>(flat_.data()), nullptr);
    return flat_;
  }

  /// Runs of tasks with the same empty call go together; all others one by one.
  void RunTasks() {
    open_to_more_ = engine_.drain.Check();  // A message is admitted whole, or not at all.
    const Instant deadline = DeadlineOf(*call_);
    const auto& tasks = batch_.tasks;
    for (size_t begin = 0, end = 0; begin < tasks.size(); begin = end) {
      end = begin + 1;
      if (!IsEmptyCall(tasks[begin].call)) {
        RunOne(tasks[begin], deadline);
        continue;
      }
      while (end < tasks.size() && tasks[end].call == known_.bytes) ++end;
      RunEmpty(absl::MakeConstSpan(tasks).subspan(begin, end - begin), deadline);
    }
  }

  bool IsEmptyCall(absl::string_view bytes) {
    if (!known_.bytes.empty() && bytes == known_.bytes) return true;
    constexpr size_t kKnownBytesMax = 64;  // Empty calls are small; others are not remembered.
    if (bytes.empty() || bytes.size() > kKnownBytesMax) return false;
    v1::ApplyRequest request;
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
    const auto call = wire::DecodeCall(request, engine_.limits.call(/*may_stream=*/false));
    if (!call.ok() || !call->op->any_dtype || !call->arguments.empty() ||
        !call->destinations.empty()) {
      return false;
    }
    known_ = {std::string(bytes), ThroughputIndex(call->op)};
    return true;
  }

  void RunEmpty(absl::Span<const SessionTaskView> tasks, Instant deadline) {
    admitted_.clear();
    seen_.clear();
    for (const SessionTaskView& task : tasks) {
      if (IsRepeated(task.id)) {
        RefuseRepeated(task.id);
      } else if (Admit(task.id)) {
        admitted_.push_back(task);
      }
    }
    if (admitted_.empty()) return;
    auto* batch = new EmptyBatch(state_, known_.op, admitted_.size());  // Deletes itself.
    batch->Submit(admitted_, deadline);
  }

  void RunOne(const SessionTaskView& task, Instant deadline) {
    if (!Admit(task.id)) return;
    const uint64_t ticket = state_->output.Begin(1);
    auto request = std::make_shared<v1::ApplyRequest>();
    absl::StatusOr<plan::Call> call =
        absl::InvalidArgumentError("the task's call is not a valid ApplyRequest");
    if (request->ParseFromArray(task.call.data(), static_cast<int>(task.call.size()))) {
      call = wire::DecodeCall(*request, engine_.limits.call(/*may_stream=*/false));
    }
    if (!call.ok()) {
      state_->in_flight.fetch_sub(1, std::memory_order_relaxed);
      return state_->output.Result(ticket, FailedResult(task.id, call.status()));
    }
    runtime::CallSetup setup;
    setup.call = *std::move(call);
    setup.request = std::move(request);
    setup.return_bytes_max = engine_.limits.inline_bytes;
    setup.deadline = DeadlineFor(task, runtime::Now(), deadline);
    StartCall(task.id, ticket, std::move(setup));
  }

  void StartCall(uint64_t id, uint64_t ticket, runtime::CallSetup setup) {
    CallRecord record;
    record.key =
        KeyOf(ThroughputIndex(setup.call.op), setup.call.route, telemetry::Plane::kSession);
    record.begun = runtime::Now();
    record.bytes_in = ArgumentBytes(setup.call);
    {
      const std::lock_guard lock(state_->mutex);
      state_->running[id] = {};
    }
    auto run = runtime::CallRun::Start(
        &engine_, std::move(setup),
        [state = state_, id, ticket, record](absl::StatusOr<runtime::CallResult> result,
                                             absl::Span<const TaskId> tasks) mutable {
          record.tasks = tasks;
          EndCall(*state, {id, ticket}, record, std::move(result));
        });
    if (run == nullptr) return;
    {
      const std::lock_guard lock(state_->mutex);
      const auto running = state_->running.find(id);
      if (running != state_->running.end()) running->second.run = run;
    }
    if (state_->cancelled) run->Cancel();
  }

  struct TaskKey {
    uint64_t id;
    uint64_t ticket;
  };

  static void EndCall(SessionState& state, TaskKey task, CallRecord record,
                      absl::StatusOr<runtime::CallResult> result) {
    {
      const std::lock_guard lock(state.mutex);
      state.running.erase(task.id);
    }
    state.in_flight.fetch_sub(1, std::memory_order_relaxed);
    record.code = result.status().code();
    if (result.ok()) {
      record.phases = result->phases;
      record.bytes_out = ReturnedBytes(*result);
    }
    Record(state.engine, record);
    if (!result.ok()) {
      return state.output.Result(task.ticket, FailedResult(task.id, result.status()));
    }
    if (result->outputs.empty()) return state.output.Done(task.ticket, task.id);
    v1::SessionResult message;
    message.set_id(task.id);
    for (const runtime::CallOutput& output : result->outputs) {
      EncodeOutput(output, /*streamed=*/false, message.add_outputs());
    }
    state.output.Result(task.ticket, message.SerializeAsString());
  }

  /// Whether a task may be begun; if not, its result says why.
  bool Admit(uint64_t id) {
    const int64_t limit = engine_.limits.session_tasks;
    if (state_->in_flight.load(std::memory_order_relaxed) >= limit) {
      Refuse(id, wire::WithQuota(absl::ResourceExhaustedError(absl::StrCat(
                                     "more than ", limit, " tasks in flight on one session")),
                                 "session tasks"));
      return false;
    }
    if (!open_to_more_.ok()) {
      Refuse(id, open_to_more_);
      return false;
    }
    if (IsRunning(id)) {
      RefuseRepeated(id);
      return false;
    }
    state_->in_flight.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// Whether a task of the run at hand has this id. Most clients count upwards, and need no set.
  bool IsRepeated(uint64_t id) {
    if (seen_.empty()) {
      if (admitted_.empty() || id > admitted_.back().id) return false;
      for (const SessionTaskView& task : admitted_) seen_.insert(task.id);
    }
    return !seen_.insert(id).second;
  }

  bool IsRunning(uint64_t id) {
    const std::lock_guard lock(state_->mutex);
    return state_->running.contains(id);
  }

  void RefuseRepeated(uint64_t id) {
    Refuse(id, absl::InvalidArgumentError(absl::StrCat("task ", id, " is in flight already")));
  }

  void Refuse(uint64_t id, const absl::Status& status) {
    state_->output.Result(state_->output.Begin(1), FailedResult(id, status));
  }

  void CancelTasks() {
    for (const uint64_t id : batch_.cancel) {
      SessionState::Running running;
      {
        const std::lock_guard lock(state_->mutex);
        const auto found = state_->running.find(id);
        if (found == state_->running.end()) continue;  // It has its result already.
        running = found->second;
      }
      Cancel(running);
    }
  }

  void Cancel(const SessionState::Running& running) {
    if (running.run != nullptr) running.run->Cancel();
    if (running.task) engine_.dispatcher->Cancel({&running.task, 1});
  }

  /// Ends the session: nothing more is read, what runs is cancelled.
  void End(const absl::Status& status) {
    std::vector<SessionState::Running> all;
    {
      const std::lock_guard lock(state_->mutex);
      state_->cancelled = true;
      for (const auto& [id, running] : state_->running) all.push_back(running);
    }
    for (const SessionState::Running& running : all) Cancel(running);
    state_->output.Finish(status, /*drop_results=*/true);
  }

  void ReadIfRoom() {
    // Whatever waits is behind a write, whose end comes here again.
    if (state_->output.waiting_bytes() > kWaitingBytesMax || state_->cancelled) return;
    if (!reading_.exchange(true, std::memory_order_acq_rel)) state_->output.Read();
  }

  runtime::Engine& engine_;
  transport::StreamCall* const call_;
  const Instant begun_;
  const std::shared_ptr<SessionState> state_;
  runtime::DrainSignal::Ticket ticket_;
  uint64_t drain_watch_ = 0;
  absl::Status open_to_more_;
  EmptyCall known_;  // The last one seen.
  SessionBatch batch_;
  std::vector<SessionTaskView> admitted_;
  absl::flat_hash_set<uint64_t> seen_;  // Ids of the run, once one did not count upwards.
  bool first_ = true;                   // No message has been taken yet.
  std::string flat_;
  std::atomic<bool> reading_ = true;  // A message has been asked for, or is being handled.
};

}  // namespace

std::unique_ptr<transport::StreamHandler> NewSession(runtime::Engine* engine,
                                                     transport::StreamCall* call) {
  return std::make_unique<Session>(engine, call);
}

}  // namespace shoal::service
