#pragma once

#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "base/time.h"
#include "kernels/map.h"
#include "kernels/program/plan.h"
#include "server/device/stream.h"
#include "server/plan/distribution.h"
#include "server/runtime/operand.h"
#include "server/runtime/staging.h"
#include "server/runtime/workers.h"

namespace shoal::runtime {

/// The part of a stage that one worker does.
struct StagePiece {
  plan::Range elements;         ///< Of the output, or of the input of a reduction.
  WorkerId worker = kNoWorker;  ///< Where it has to run; none: anywhere.
  Duration cost{};
  /// Of its worker's memory, that it takes while it runs: it runs where so much is free.
  int64_t workspace_bytes = 0;
  bool keeps_workspace = false;  ///< It is needed after the piece's end, and counted as stored.
};

/// One step of a call: pieces that run on workers at the same time, then perhaps another stage.
///
/// Lifetime: outlives every piece's Done.
/// Thread-safety: RunPiece of different pieces at the same time.
class Stage {
 public:
  virtual ~Stage() = default;

  const std::vector<StagePiece>& pieces() const { return pieces_; }

  /// Queues piece `index` on `worker`. Must not block; `done` may run before it returns.
  virtual void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                        device::Done done) = 0;

  /// After all pieces have succeeded: the stage that follows, or null. Cheap.
  virtual std::unique_ptr<Stage> Next() { return nullptr; }

 protected:
  std::vector<StagePiece> pieces_;
};

/// What a stage is made from. Inputs and outputs are typed and have memory.
struct StageInputs {
  const kernels::program::Step* step = nullptr;  ///< Outlives the stage.
  absl::InlinedVector<Operand, 2> inputs;        ///< In the step's order.
  absl::InlinedVector<Operand, 1> outputs;
  const Workers* workers = nullptr;
};

/// Cuts [0, n) of `operand` into pieces: at its extents where workers hold them; front-end memory
/// into one piece per worker if the work is worth it, else into one that may run anywhere.
///
/// `unit` elements stay together (rows of a sort).
std::vector<StagePiece> CutIntoPieces(const StageInputs& inputs, const Operand& operand,
                                      int64_t unit);

/// Cuts the step's domain for a reduction: at the extents of its first input that is not broadcast,
/// or, where all are, into one piece per worker if the work is worth it.
std::vector<StagePiece> CutReduction(const StageInputs& inputs, int64_t unit);

/// The elementwise part of a step, as one piece of it runs it: which elements of each input it
/// reads, and the memory that a launch is told of.
class PieceKernel {
 public:
  /// What a step's inputs look like from its domain: made once, for all its pieces.
  class Access {
   public:
    explicit Access(const StageInputs& inputs);

    /// The elements of input `index` that are read for `elements` of the domain.
    plan::Range ReadBy(size_t index, plan::Range elements) const;
    /// Workspace of `worker` for all inputs.
    int64_t WorkspaceBytes(WorkerId worker, plan::Range elements) const;

   private:
    friend PieceKernel;
    const StageInputs& inputs_;
    std::vector<std::vector<kernels::BroadcastAxis>> axes_;  // By input.
    std::vector<bool> single_;
  };

  /// Points the inputs at memory in the worker's reach.
  ///
  /// Errors: as PieceMemory::Read.
  absl::Status Read(const Access& access, Worker& worker, plan::Range elements,
                    PieceMemory& memory);

  /// What a launch gets; it borrows from this.
  kernels::MapArgs Args(const kernels::program::Step& step, plan::Range elements) const;

  absl::InlinedVector<void*, 1> outputs;  ///< To be filled in by who has any.

 private:
  absl::InlinedVector<kernels::MapInput, 2> inputs_;
};

std::unique_ptr<Stage> MakeMapStage(StageInputs inputs);
std::unique_ptr<Stage> MakeReduceStage(StageInputs inputs);  ///< To one element.
std::unique_ptr<Stage> MakeFoldStage(StageInputs inputs);    ///< To several.
std::unique_ptr<Stage> MakeSortStage(StageInputs inputs);

/// The first stage of a step, by its form.
std::unique_ptr<Stage> MakeStage(StageInputs inputs);

}  // namespace shoal::runtime
