#include "server/service/session.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "server/runtime/call_run.h"
#include "server/runtime/outcome_status.h"
#include "server/service/call_record.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/service/session_codec.h"
#include "server/service/session_state.h"
#include "server/service/session_tasks.h"
#include "server/wire/call_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

// A caller that does not read its results is not read from either, nor are its tasks begun: beyond
// this, only what is under way may still add the one result that went over it.
constexpr int64_t kWaitingBytesMax = 4 * kMiB;
// Refusals are results too: of so many tasks at most, before the above is looked at again.
constexpr size_t kRunTasksMax = 4096;
/// A call whose bytes were seen before: a flood decodes one.
struct KnownCall {
  std::string bytes;
  bool empty = false;  // An echo of nothing: scheduled like any task, with nothing to run.
  int32_t op = 0;
};

/// A task's call, while it is wanted. The message that it came in is paid for until the last of its
/// calls goes: they share it.
struct HeldRequest {
  v1::ApplyRequest request;
  std::shared_ptr<const memory::Reservation> message;
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
    message_ = std::move(message);
    held_message_.reset();
    batch_.Clear();
    next_task_ = 0;
    bytes_ = Flatten();
    if (const absl::Status decoded = DecodeSessionRequest(bytes_, &batch_); !decoded.ok()) {
      return End(decoded);
    }
    if (batch_.has_open && !first_) {
      // Tasks under way have been promised an order.
      return End(absl::InvalidArgumentError("open: only in the first message"));
    }
    first_ = false;
    if (batch_.ordered) state_->output.set_ordered();
    open_to_more_ = engine_.drain.Check();
    at_hand_.store(true, std::memory_order_release);
    Advance();
  }

  void OnHalfClose() override { state_->output.Finish(absl::OkStatus(), /*drop_results=*/false); }

  void OnWritten(bool ok) override {
    state_->output.OnWritten(ok);
    Advance();
  }

  void OnCancelled() override { End(absl::CancelledError("the caller went away")); }

  void OnDone() override {
    engine_.drain.Unwatch(drain_watch_);
    LogCall(engine_, {"Session", call_, begun_}, state_->output.finish_status());
  }

 private:
  struct TaskKey {
    uint64_t id;
    uint64_t ticket;
  };

  /// Goes on with the message at hand as far as there is room for results, and then reads the
  /// next. From OnMessage and OnWritten only: whatever takes the room is behind a write, whose end
  /// comes here again. Whoever comes while another is at it has that one look once more.
  void Advance() {
    if (looks_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
    int seen = 0;
    do {
      seen = looks_.load(std::memory_order_acquire);
      if (at_hand_.load(std::memory_order_acquire)) Handle();
    } while (!looks_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));
  }

  void Handle() {
    if (!state_->output.Hold()) return;
    if (RunTasks()) CancelTasks();
    state_->output.Release();
    if (next_task_ < batch_.tasks.size() || !HasRoom()) return;
    message_ = transport::Message();
    held_message_.reset();
    // Before the read, which may bring the next message while this returns.
    at_hand_.store(false, std::memory_order_release);
    state_->output.Read();
  }

  bool HasRoom() const {
    return state_->output.waiting_bytes() < kWaitingBytesMax && !state_->cancelled;
  }

  absl::string_view Flatten() {
    const wire::Pieces& pieces = message_.pieces();
    if (pieces.size() == 1) {
      return {reinterpret_cast<const char*>(pieces[0].data()), pieces[0].size()};
    }
    flat_.resize(static_cast<size_t>(wire::TotalBytes(pieces)));
    wire::GatherPieces(pieces, {reinterpret_cast<std::byte*>(flat_.data())}, nullptr);
    return flat_;
  }

  /// Runs of tasks with the same empty call go together; all others one by one. False: it stopped
  /// before the last.
  bool RunTasks() {
    const Instant deadline = DeadlineOf(*call_);
    const auto tasks = absl::MakeConstSpan(batch_.tasks);
    while (next_task_ < tasks.size()) {
      if (!HasRoom()) return false;
      const size_t begin = next_task_++;
      if (!IsEmptyCall(tasks[begin].call)) {
        RunOne(tasks[begin], deadline);
        continue;
      }
      const size_t end_max = std::min(tasks.size(), begin + kRunTasksMax);
      while (next_task_ < end_max && tasks[next_task_].call == known_.bytes) ++next_task_;
      RunEmpty(tasks.subspan(begin, next_task_ - begin), deadline);
    }
    return true;
  }

  bool IsEmptyCall(absl::string_view bytes) {
    if (!known_.bytes.empty() && bytes == known_.bytes) return known_.empty;
    constexpr size_t kKnownBytesMax = 64;  // Empty calls are small; others are not remembered.
    if (bytes.empty() || bytes.size() > kKnownBytesMax) return false;
    v1::ApplyRequest request;
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
    const auto call = wire::DecodeCall(request, engine_.limits.call(/*may_stream=*/false));
    if (!call.ok() || !call->Moves() || !call->arguments.empty() || !call->destinations.empty()) {
      return false;
    }
    known_ = {std::string(bytes), true, ThroughputIndex(*call)};
    return true;
  }

  void RunEmpty(absl::Span<const SessionTaskView> tasks, Instant deadline) {
    admitted_.clear();
    seen_.clear();
    TakeCredits();
    // One after another, also where some are refused: that is the order of an ordered session.
    uint64_t ticket = state_->output.Begin(tasks.size());
    for (const SessionTaskView& task : tasks) {
      const TaskKey key{task.id, ticket++};
      if (IsRepeated(task.id)) {
        RefuseRepeated(key);
      } else if (Admit(key)) {
        admitted_.push_back({task, key.ticket});
      }
    }
    if (admitted_.empty()) return;
    SubmitEmpty(state_, {known_.op, deadline}, admitted_);
  }

  void RunOne(const SessionTaskView& task, Instant deadline) {
    TakeCredits();
    const TaskKey key{task.id, state_->output.Begin(1)};
    if (!Admit(key)) return;
    auto request = std::make_shared<HeldRequest>();
    absl::StatusOr<plan::Call> call = Decode(task, request.get());
    if (!call.ok()) return Refuse(key, call.status());
    runtime::CallSetup setup;
    setup.call = *std::move(call);
    setup.request = std::move(request);
    setup.return_bytes_max = engine_.limits.inline_bytes;
    setup.deadline = DeadlineFor(task, runtime::Now(), deadline);
    setup.use = runtime::FrontUse::kHeld;
    StartCall(key, std::move(setup));
  }

  absl::StatusOr<plan::Call> Decode(const SessionTaskView& task, HeldRequest* held) {
    if (held_message_ == nullptr) {
      SHOAL_ASSIGN_OR_RETURN(auto bytes,
                             runtime::ReserveFrontEnd(engine_, static_cast<int64_t>(bytes_.size()),
                                                      runtime::FrontUse::kHeld));
      held_message_ = std::make_shared<memory::Reservation>(std::move(bytes));
    }
    held->message = held_message_;
    if (!held->request.ParseFromArray(task.call.data(), static_cast<int>(task.call.size()))) {
      return absl::InvalidArgumentError("the task's call is not a valid ApplyRequest");
    }
    return wire::DecodeCall(held->request, engine_.limits.call(/*may_stream=*/false));
  }

  void StartCall(TaskKey key, runtime::CallSetup setup) {
    CallRecord record;
    record.key = KeyOf(ThroughputIndex(setup.call), setup.call.route, telemetry::Plane::kSession);
    record.begun = runtime::Now();
    record.bytes_in = ArgumentBytes(setup.call);
    // Its owners are the call's beginning, which fills it, and its end.
    auto held = std::make_shared<memory::Reservation>();
    setup.admit_return = [state = state_, held](int64_t bytes) {
      return HoldResult(*state, bytes, held.get());
    };
    {
      const std::lock_guard lock(state_->mutex);
      state_->running[key.id] = {};
    }
    auto run = runtime::CallRun::Start(
        &engine_, std::move(setup),
        [state = state_, key, held, record](absl::StatusOr<runtime::CallResult> result,
                                            absl::Span<const TaskId> tasks) mutable {
          record.tasks = tasks;
          EndCall(*state, {key, std::move(*held)}, record, std::move(result));
        });
    if (run == nullptr) return;
    {
      const std::lock_guard lock(state_->mutex);
      const auto running = state_->running.find(key.id);
      if (running != state_->running.end()) running->second.run = run;
    }
    if (state_->cancelled) run->Cancel();
  }

  /// Counts the bytes of a result that is to come, before anything is computed for it.
  static absl::Status HoldResult(SessionState& state, int64_t bytes, memory::Reservation* held) {
    SHOAL_ASSIGN_OR_RETURN(*held,
                           runtime::ReserveFrontEnd(state.engine, bytes, runtime::FrontUse::kHeld));
    state.output.Expect(bytes);
    return absl::OkStatus();
  }

  struct Ending {
    TaskKey task;
    memory::Reservation held;  // For the result.
  };

  static void EndCall(SessionState& state, Ending ending, CallRecord record,
                      absl::StatusOr<runtime::CallResult> result) {
    const TaskKey task = ending.task;
    {
      const std::lock_guard lock(state.mutex);
      state.running.erase(task.id);
    }
    record.code = result.status().code();
    if (result.ok()) {
      record.phases = result->phases;
      record.bytes_out = ReturnedBytes(*result);
    }
    Record(state.engine, record);
    if (!result.ok()) {
      return state.output.Result(task.ticket, FailedResult(task.id, result.status()),
                                 std::move(ending.held));
    }
    if (result->outputs.empty()) return state.output.Done(task.ticket, task.id);
    v1::SessionResult message;
    message.set_id(task.id);
    for (const runtime::CallOutput& output : result->outputs) {
      EncodeOutput(output, /*streamed=*/false, message.add_outputs());
    }
    state.output.Result(task.ticket, message.SerializeAsString(), std::move(ending.held));
  }

  /// Whether a task may be begun; if not, its result says why.
  bool Admit(TaskKey key) {
    if (credits_ <= 0) {
      Refuse(key, wire::WithQuota(absl::ResourceExhaustedError(
                                      absl::StrCat("more than ", engine_.limits.session_tasks,
                                                   " tasks in flight on one session")),
                                  "session tasks"));
      return false;
    }
    if (!open_to_more_.ok()) {
      Refuse(key, open_to_more_);
      return false;
    }
    if (IsRunning(key.id)) {
      RefuseRepeated(key);
      return false;
    }
    --credits_;
    return true;
  }

  /// Before tasks are begun: how many may be.
  void TakeCredits() { credits_ = engine_.limits.session_tasks - state_->output.in_flight(); }

  /// Whether a task of the run at hand has this id. Most clients count upwards, and need no set.
  bool IsRepeated(uint64_t id) {
    if (seen_.empty()) {
      if (admitted_.empty() || id > admitted_.back().task.id) return false;
      for (const Admitted& admitted : admitted_) seen_.insert(admitted.task.id);
    }
    return !seen_.insert(id).second;
  }

  bool IsRunning(uint64_t id) {
    const std::lock_guard lock(state_->mutex);
    return state_->running.contains(id);
  }

  void RefuseRepeated(TaskKey key) {
    Refuse(key, absl::InvalidArgumentError(absl::StrCat("task ", key.id, " is in flight already")));
  }

  void Refuse(TaskKey key, const absl::Status& status) {
    state_->output.Result(key.ticket, FailedResult(key.id, status));
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

  runtime::Engine& engine_;
  transport::StreamCall* const call_;
  const Instant begun_;
  const std::shared_ptr<SessionState> state_;
  runtime::DrainSignal::Ticket ticket_;
  uint64_t drain_watch_ = 0;
  absl::Status open_to_more_;  // When the message at hand came: it is admitted whole.
  KnownCall known_;
  transport::Message message_;                               // The one at hand,
  absl::string_view bytes_;                                  // its bytes,
  std::shared_ptr<const memory::Reservation> held_message_;  // what pays for its calls,
  SessionBatch batch_;                                       // what it says,
  size_t next_task_ = 0;                                     // and the first not yet begun.
  int64_t credits_ = 0;
  std::vector<Admitted> admitted_;
  absl::flat_hash_set<uint64_t> seen_;  // Ids of the run, once one did not count upwards.
  bool first_ = true;                   // No message has been taken yet.
  std::string flat_;
  std::atomic<bool> at_hand_ = false;
  std::atomic<int> looks_ = 0;  // Calls of Advance that the one within it has to make good.
};

}  // namespace

std::unique_ptr<transport::StreamHandler> NewSession(runtime::Engine* engine,
                                                     transport::StreamCall* call) {
  return std::make_unique<Session>(engine, call);
}

}  // namespace shoal::service
