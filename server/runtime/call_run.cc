#include "server/runtime/call_run.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "kernels/registry.h"
#include "server/plan/typing.h"
#include "server/runtime/clock.h"
#include "server/runtime/echo_stage.h"
#include "server/runtime/outcome_status.h"
#include "server/runtime/staging.h"
#include "server/wire/status_details.h"

namespace shoal::runtime {

using core::AttemptOutcome;

/// One stage as a task of the scheduler.
class CallRun::StageBody final : public TaskBody {
 public:
  explicit StageBody(std::shared_ptr<CallRun> run)
      : run_(std::move(run)), ends_(run_->stage_->pieces().size()), submitted_(Now()) {}

  std::optional<AttemptOutcome> Run(const PieceRun& piece) override {
    if (first_run_.load(std::memory_order_relaxed) == 0) {
      first_run_.store(Now().time_since_epoch().count(), std::memory_order_relaxed);
    }
    // Two come to this turnstile: the end of the piece and the end of this function. Who comes
    // last has the outcome; so a piece that ends at once costs no second round of the dispatcher.
    const auto index = static_cast<size_t>(piece.piece);
    PieceEnd& end = ends_[index];
    end.turns.store(2, std::memory_order_relaxed);
    Worker& worker = (*run_->engine_->workers)[piece.seat.worker];
    run_->stage_->RunPiece(index, worker, cancel_flag(),
                           [this, piece, index, &end](const absl::Status& status) {
                             end.outcome = OutcomeOf(status);
                             // Before its reservation goes: what stays there is counted all the
                             // time.
                             if (run_->stage_->pieces()[index].keeps_workspace)
                               run_->engine_->ReportStored();
                             if (end.turns.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
                             run_->engine_->dispatcher->End(
                                 piece, {.attempt = piece.attempt, .outcome = end.outcome}, this);
                           });
    if (end.turns.fetch_sub(1, std::memory_order_acq_rel) == 1) return end.outcome;
    return std::nullopt;
  }

  void OnFinished(const scheduler::Finished& finished) override {
    const Instant now = Now();
    const Instant begun{Duration(first_run_.load(std::memory_order_relaxed))};
    if (begun != Instant()) {
      run_->phases_.queue += begun - submitted_;
      run_->phases_.compute += now - begun;
    }
    if (finished.task) run_->ended_tasks_.push_back(finished.task);
    absl::Status status = StatusOf(finished);
    if (finished.outcome == scheduler::Outcome::kFailed) {
      const std::lock_guard lock(mutex_);
      status = error_;
    }
    run_->OnStage(std::move(status));
  }

  void Retire() override { delete this; }

 private:
  struct PieceEnd {
    std::atomic<int> turns = 0;  // Of those at the turnstile, how many have not come.
    AttemptOutcome outcome = AttemptOutcome::kOk;
  };

  AttemptOutcome OutcomeOf(const absl::Status& status) {
    if (status.ok()) return AttemptOutcome::kOk;
    if (absl::IsCancelled(status)) return AttemptOutcome::kCancelled;
    const std::lock_guard lock(mutex_);
    if (error_.ok()) error_ = status;
    return AttemptOutcome::kFailed;
  }

  const std::shared_ptr<CallRun> run_;
  std::vector<PieceEnd> ends_;  // By piece.
  const Instant submitted_;
  std::atomic<int64_t> first_run_ = 0;
  std::mutex mutex_;
  absl::Status error_;  // Of the first piece that failed.
};

std::shared_ptr<CallRun> CallRun::Start(Engine* engine, CallSetup setup, CallDone done) {
  auto run = std::make_shared<CallRun>(engine, std::move(setup), std::move(done));
  if (absl::Status prepared = run->Prepare(); !prepared.ok()) {
    run->Finish(std::move(prepared));
    return nullptr;
  }
  if (run->stage_ == nullptr) {
    run->OnStage(absl::OkStatus());
    return nullptr;
  }
  run->RunStage();
  return run;
}

CallRun::CallRun(Engine* engine, CallSetup setup, CallDone done)
    : engine_(engine), setup_(std::move(setup)), done_(std::move(done)) {}

CallRun::~CallRun() {
  SHOAL_CHECK(!done_);  // Whoever waits would wait for ever.
  if (!report_at_end_) return;
  LetGo();
  engine_->ReportStored();
}

void CallRun::Cancel() {
  TaskId task;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    task = task_;
  }
  if (task) engine_->dispatcher->Cancel({&task, 1});
}

// Everything that can fail for want of something fails here, before anything is computed.
absl::Status CallRun::Prepare() {
  const plan::Call& call = setup_.call;
  size_t streamed_used = 0;
  absl::InlinedVector<plan::ArrayType, 2> types;
  for (const plan::Argument& argument : call.arguments) {
    SHOAL_ASSIGN_OR_RETURN(Operand input, Resolve(argument, &streamed_used));
    types.push_back(input.type);
    inputs_.push_back(std::move(input));
  }
  SHOAL_ASSIGN_OR_RETURN(typed_, plan::TypeCall(call, types));
  const absl::InlinedVector<plan::ArrayType, 1>& outputs = typed_.outputs;
  if (call.destinations.size() > outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(call.destinations.size(), " destinations for ", outputs.size(), " outputs"));
  }
  SHOAL_RETURN_IF_ERROR(AdmitReturn(outputs));
  targets_.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) SHOAL_RETURN_IF_ERROR(MakeTarget(i, outputs[i]));
  SHOAL_RETURN_IF_ERROR(MakeTemporaries());
  stage_ = NextStep();
  return absl::OkStatus();
}

// In the front end; most are single elements.
absl::Status CallRun::MakeTemporaries() {
  struct alignas(16) Element {
    std::array<std::byte, 16> bytes = {};
  };
  for (const plan::ArrayType& type : typed_.plan.temporaries) {
    if (type.shape.element_count() > 1) {
      const int64_t bytes = *type.shape.ByteCount(type.dtype);
      SHOAL_ASSIGN_OR_RETURN(auto block, AllocateFrontEnd(*engine_, bytes, setup_.use));
      std::byte* const data = block->data();
      temporaries_.push_back(HostOperand(type, data, std::move(block)));
      continue;
    }
    auto element = std::make_shared<Element>();
    std::byte* const data = element->bytes.data();
    temporaries_.push_back(HostOperand(type, data, std::move(element)));
  }
  return absl::OkStatus();
}

// What goes back inline has a limit of its own, and somebody may keep count of it.
absl::Status CallRun::AdmitReturn(absl::Span<const plan::ArrayType> outputs) {
  const plan::Call& call = setup_.call;
  int64_t return_bytes = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool returned = i >= call.destinations.size() ||
                          std::holds_alternative<plan::ReturnToCaller>(call.destinations[i]);
    if (returned) return_bytes += *outputs[i].shape.ByteCount(outputs[i].dtype);
  }
  if (return_bytes > setup_.return_bytes_max) {
    return wire::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                "outputs of ", return_bytes, " bytes inline; the limit is ",
                                setup_.return_bytes_max, ": use ApplyStream, or store them")),
                            "INLINE_LIMIT");
  }
  if (!setup_.admit_return) return absl::OkStatus();
  return std::move(setup_.admit_return)(return_bytes);
}

absl::StatusOr<Operand> CallRun::Resolve(const plan::Argument& argument, size_t* streamed_used) {
  stored_inputs_.push_back(nullptr);
  if (const auto* inlined = std::get_if<plan::InlineBytes>(&argument.value)) {
    // Inputs are only read; the one type of operand serves both directions.
    return HostOperand(inlined->type, const_cast<std::byte*>(inlined->bytes.data()),
                       setup_.request);
  }
  if (const auto* ref = std::get_if<plan::StoredRef>(&argument.value)) {
    SHOAL_ASSIGN_OR_RETURN(ArrayUse use, engine_->catalogue->Find(*ref));
    stored_inputs_.back() = use.array().get();
    Operand operand = ArrayOperand(*use, use.array());
    uses_.push_back(std::move(use));
    return operand;
  }
  if (const auto* leased = std::get_if<plan::LeasedBytes>(&argument.value)) {
    const plan::ArrayType& type = leased->type;
    SHOAL_ASSIGN_OR_RETURN(
        LeasedSpan span, engine_->leases->Resolve(leased->place, *type.shape.ByteCount(type.dtype),
                                                  kernels::ItemBytes(type.dtype)));
    return HostOperand(type, span.data, std::move(span.owner));
  }
  SHOAL_CHECK(*streamed_used < setup_.streamed.size());
  return std::move(setup_.streamed[(*streamed_used)++]);
}

absl::Status CallRun::MakeTarget(size_t index, const plan::ArrayType& type) {
  CallTarget& target = targets_.emplace_back();
  const plan::Destination destination = index < setup_.call.destinations.size()
                                            ? setup_.call.destinations[index]
                                            : plan::Destination(plan::ReturnToCaller{});
  if (const auto* store = std::get_if<plan::StoreAs>(&destination)) {
    SHOAL_ASSIGN_OR_RETURN(target.stored, engine_->catalogue->Create(type, StoreFor(*store, type)));
    target.data = ArrayOperand(**target.stored, target.stored->array());
    return absl::OkStatus();
  }
  if (const auto* place = std::get_if<plan::LeasePlace>(&destination)) {
    SHOAL_ASSIGN_OR_RETURN(LeasedSpan span,
                           engine_->leases->Resolve(*place, *type.shape.ByteCount(type.dtype),
                                                    kernels::ItemBytes(type.dtype)));
    target.leased = *place;
    target.data = HostOperand(type, span.data, std::move(span.owner));
    return CheckPlace(index);
  }
  return MakeReturned(type, &target);
}

absl::Status CallRun::CheckPlace(size_t index) const {
  const Operand& output = targets_[index].data;
  if (!setup_.call.Moves()) {
    return typed_.plan.WritesInPlace() ? CheckOverlap(output, inputs_)
                                       : CheckApart(output, inputs_);
  }
  SHOAL_RETURN_IF_ERROR(CheckOverlap(output, inputs_));
  std::vector<Operand> others(inputs_.begin(), inputs_.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t i = 0; i < index; ++i) others.push_back(targets_[i].data);
  return CheckApart(output, others);
}

absl::Status CallRun::MakeReturned(const plan::ArrayType& type, CallTarget* target) {
  if (setup_.call.Moves()) {
    SHOAL_ASSIGN_OR_RETURN(target->data,
                           EchoTarget(*engine_, setup_.call.route, inputs_[targets_.size() - 1]));
    if (setup_.returns_staged || target->data.host_addressable()) return absl::OkStatus();
  }
  const int64_t bytes = *type.shape.ByteCount(type.dtype);
  SHOAL_ASSIGN_OR_RETURN(auto block, AllocateFrontEnd(*engine_, bytes, setup_.use));
  std::byte* data = block->data();
  Operand& place = setup_.call.Moves() ? target->fetched : target->data;
  place = HostOperand(type, data, std::move(block));
  return absl::OkStatus();
}

plan::StoreAs CallRun::StoreFor(const plan::StoreAs& asked, const plan::ArrayType& type) const {
  if (asked.has_distribution) return asked;
  plan::StoreAs store = asked;
  for (const StoredArray* input : stored_inputs_) {
    if (input == nullptr || !(input->type.shape == type.shape)) continue;
    store.distribution = input->distribution;
    return store;
  }
  if (type.shape.rank() == 0) store.distribution.kind = plan::DistributionKind::kSingle;
  return store;
}

Operand CallRun::OperandOf(kernels::program::Place place) const {
  const auto index = static_cast<size_t>(place.index);
  switch (place.kind) {
    case kernels::program::Place::Kind::kInput:
      return inputs_[index];
    case kernels::program::Place::Kind::kOutput:
      return targets_[index].data;
    case kernels::program::Place::Kind::kTemporary:
      return temporaries_[index];
  }
  SHOAL_UNREACHABLE("kind out of range");
}

/// The first stage of the step that comes next, or null after the last one.
std::unique_ptr<Stage> CallRun::NextStep() {
  if (setup_.call.Moves()) {
    if (next_step_++ > 0) return nullptr;
    absl::InlinedVector<Operand, 2> outputs;
    for (const CallTarget& target : targets_) outputs.push_back(target.data);
    return MakeEchoStage(setup_.call, inputs_, std::move(outputs), *engine_->workers);
  }
  if (next_step_ == typed_.plan.steps.size()) return nullptr;
  const kernels::program::Step& step = typed_.plan.steps[next_step_++];
  StageInputs stage = {&step, {}, {}, engine_->workers.get()};
  for (const kernels::program::Place place : step.inputs) {
    stage.inputs.push_back(OperandOf(place));
  }
  for (const kernels::program::Place place : step.outputs) {
    stage.outputs.push_back(OperandOf(place));
  }
  return MakeStage(std::move(stage));
}

void CallRun::RunStage() {
  const std::vector<StagePiece>& pieces = stage_->pieces();
  worker_count_ = std::max(worker_count_, static_cast<int>(pieces.size()));
  absl::InlinedVector<scheduler::Piece, 4> scheduled;
  bool reserves = false;
  for (const StagePiece& piece : pieces) {
    // A cost of 0 means "unknown" to the scheduler; nothing takes less than a nanosecond.
    scheduled.push_back({.pinned = piece.worker,
                         .reserve_bytes = piece.workspace_bytes,
                         .cost = std::max(piece.cost, Duration(1))});
    reserves |= piece.workspace_bytes > 0;
  }
  if (reserves) {
    reserves_ = true;
    engine_->ReportStored();  // With the call's own outputs, which nobody knows of yet.
  }
  scheduler::Submission task;
  task.deadline = setup_.deadline;
  task.piece = scheduled[0];
  task.more = absl::MakeConstSpan(scheduled).subspan(1);
  task.tag = Dispatcher::Tag(new StageBody(shared_from_this()));

  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++stage_number_;
  }
  std::vector<TaskId> ids;
  engine_->dispatcher->Submit({&task, 1}, &ids);
  bool cancel = false;
  {
    // By now the stage, and even those that follow it, may have ended.
    const std::lock_guard lock(mutex_);
    if (number == stage_number_) {
      task_ = ids[0];
      cancel = cancelled_;
    }
  }
  if (cancel && ids[0]) engine_->dispatcher->Cancel(ids);
}

void CallRun::OnStage(absl::Status status) {
  if (!status.ok()) return Finish(std::move(status));
  if (stage_ != nullptr) {
    std::unique_ptr<Stage> next = stage_->Next();
    if (next == nullptr) next = NextStep();
    if (next != nullptr) {
      stage_ = std::move(next);
      return RunStage();
    }
  }
  Fetch(0);
}

void CallRun::Fetch(size_t index) {
  while (index < targets_.size() && targets_[index].fetched.extents.empty()) ++index;
  if (index == targets_.size()) return Replicate(0);
  CallTarget& target = targets_[index];
  const Instant begun = Now();
  StageOut(target.data, {0, target.data.bytes()}, target.fetched.extents[0].data,
           [self = shared_from_this(), index, begun](const absl::Status& status) {
             self->phases_.transfer_out += Now() - begun;
             if (!status.ok()) return self->Finish(status);
             CallTarget& fetched = self->targets_[index];
             fetched.data = std::exchange(fetched.fetched, {});
             self->Fetch(index + 1);
           });
}

void CallRun::Replicate(size_t index) {
  while (index < targets_.size()) {
    const auto& stored = targets_[index].stored;
    const bool replicated =
        stored.has_value() && (*stored)->distribution.kind == plan::DistributionKind::kReplicated;
    if (replicated) break;
    ++index;
  }
  if (index == targets_.size()) return Finish(absl::OkStatus());
  const Instant begun = Now();
  engine_->mover->Replicate(targets_[index].stored->array().get(),
                            [self = shared_from_this(), index, begun](const absl::Status& status) {
                              self->phases_.collective += Now() - begun;
                              if (!status.ok()) return self->Finish(status);
                              self->Replicate(index + 1);
                            });
}

void CallRun::Finish(absl::Status status) {
  CallResult result;
  const bool all_ended = status.ok();
  if (status.ok()) status = Publish(&result);
  bool any_stored = false;
  for (const CallTarget& target : targets_) {
    if (!target.stored.has_value()) continue;
    any_stored = true;
    if (!status.ok()) engine_->catalogue->Abandon(*target.stored);
  }
  if (!status.ok()) result = CallResult();
  // Who is told may free the arrays at once: they are not in use any more. Where the call failed,
  // pieces that were stopped may still run on them.
  if (all_ended) LetGo();
  const bool changed = any_stored || reserves_;
  if (changed && all_ended) engine_->ReportStored();
  report_at_end_ = changed && !all_ended;
  CallDone done = std::exchange(done_, nullptr);
  if (!status.ok()) return std::move(done)(ForClient(std::move(status)), ended_tasks_);
  std::move(done)(std::move(result), ended_tasks_);
}

/// Gives up the memory and the uses of arrays. Nothing runs for the call any more.
void CallRun::LetGo() {
  stage_.reset();
  targets_.clear();
  temporaries_.clear();
  inputs_.clear();
  stored_inputs_.clear();
  uses_.clear();
}

absl::Status CallRun::Publish(CallResult* result) {
  for (CallTarget& target : targets_) {
    if (target.stored.has_value()) {
      SHOAL_RETURN_IF_ERROR(engine_->catalogue->Publish(*target.stored));
    }
    const size_t index = result->outputs.size();
    const std::vector<std::string>& names = typed_.plan.output_names;
    result->outputs.push_back(
        {.data = target.data,
         .stored = target.stored.has_value() ? (*target.stored)->id : ArrayId{},
         .leased = target.leased,
         .name = index < names.size() ? names[index] : ""});
  }
  result->worker_count = worker_count_;
  result->phases = phases_;
  return absl::OkStatus();
}

}  // namespace shoal::runtime
