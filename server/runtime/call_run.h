#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "base/time.h"
#include "server/plan/call.h"
#include "server/plan/typing.h"
#include "server/runtime/engine.h"
#include "server/runtime/operand.h"
#include "server/runtime/stage.h"
#include "server/telemetry/call_observer.h"

namespace shoal::runtime {

/// One output of a call, made.
struct CallOutput {
  Operand data;    ///< Its bytes, wherever they lie, with what keeps them there.
  ArrayId stored;  ///< Its id where it was to be stored.
  std::optional<plan::LeasePlace> leased;
  std::string name;  ///< That a program gave it.
};

struct CallResult {
  absl::InlinedVector<CallOutput, 1> outputs;
  int worker_count = 0;
  telemetry::PhaseTimes phases;
};

/// `tasks`: what the scheduler ran for the call, a task a stage, also where it failed; borrowed for
/// the call of this.
using CallDone =
    absl::AnyInvocable<void(absl::StatusOr<CallResult> result, absl::Span<const TaskId> tasks) &&>;

/// What a call is run with.
struct CallSetup {
  plan::Call call;
  /// Keeps alive what the call's inline bytes point into.
  std::shared_ptr<const void> request;
  /// The streamed arguments, landed, in the order of the arguments.
  std::vector<Operand> streamed;
  /// Largest sum of outputs that go back inline; they are checked before anything is computed.
  int64_t return_bytes_max = INT64_MAX;
  /// Returned outputs may lie where the host cannot touch them: they are staged as they are sent.
  /// Else they are in host-addressable memory when `done` is told.
  bool returns_staged = false;
  Instant deadline = kNever;
  /// How long the front end may have to keep what goes back.
  FrontUse use = FrontUse::kBrief;
  /// Unless empty: told the bytes that will go back, once, before anything is computed and before
  /// `done`. Its error is the call's.
  absl::AnyInvocable<absl::Status(int64_t return_bytes) &&> admit_return;
};

/// Where an output of a call is written.
struct CallTarget {
  Operand data;
  Operand fetched;  ///< Where a returned output is brought that the host cannot touch.
  std::optional<ArrayUse> stored;  ///< Unfinished until the call has succeeded.
  std::optional<plan::LeasePlace> leased;
};

/// One call on its way through the workers: resolved, cut into stages of pieces, finished.
///
/// Ownership: keeps itself alive until `done` has been told and nothing runs for it any more.
/// Thread-safety: Cancel from any thread.
class CallRun : public std::enable_shared_from_this<CallRun> {
 public:
  /// Starts a call. `done` is told exactly once, perhaps before this returns; then the result is
  /// null. Errors of the call are told, not returned.
  static std::shared_ptr<CallRun> Start(Engine* engine, CallSetup setup, CallDone done);

  /// Stops the call at the next chance; `done` is still told.
  void Cancel();

  CallRun(Engine* engine, CallSetup setup, CallDone done);
  ~CallRun();

 private:
  class StageBody;

  absl::Status Prepare();
  absl::StatusOr<Operand> Resolve(const plan::Argument& argument, size_t* streamed_used);
  absl::Status AdmitReturn(absl::Span<const plan::ArrayType> outputs);
  absl::Status MakeTarget(size_t index, const plan::ArrayType& type);
  absl::Status MakeReturned(const plan::ArrayType& type, CallTarget* target);
  absl::Status CheckPlace(size_t index) const;
  plan::StoreAs StoreFor(const plan::StoreAs& asked, const plan::ArrayType& type) const;
  absl::Status MakeTemporaries();
  Operand OperandOf(kernels::program::Place place) const;
  std::unique_ptr<Stage> NextStep();
  void RunStage();
  void OnStage(absl::Status status);
  void Fetch(size_t index);
  void Replicate(size_t index);
  void Finish(absl::Status status);
  absl::Status Publish(CallResult* result);
  void LetGo();

  Engine* const engine_;
  CallSetup setup_;
  CallDone done_;
  absl::InlinedVector<Operand, 2> inputs_;
  absl::InlinedVector<const StoredArray*, 2> stored_inputs_;  // Null where not stored.
  std::vector<ArrayUse> uses_;  // Of the stored inputs; outputs may lie in the same memory.
  plan::TypedCall typed_;
  size_t next_step_ = 0;
  std::vector<CallTarget> targets_;
  std::vector<Operand> temporaries_;
  std::unique_ptr<Stage> stage_;  // Null: nothing has to run.
  telemetry::PhaseTimes phases_;
  int worker_count_ = 0;
  absl::InlinedVector<TaskId, 2> ended_tasks_;
  bool reserves_ = false;       // A stage needed workspace.
  bool report_at_end_ = false;  // Memory of abandoned outputs goes with the last piece.

  std::mutex mutex_;
  TaskId task_;
  bool cancelled_ = false;
  uint64_t stage_number_ = 0;  // Which stage `task_` is of.
};

}  // namespace shoal::runtime
