#pragma once

#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "base/time.h"
#include "server/device/stream.h"
#include "server/plan/call.h"
#include "server/runtime/operand.h"
#include "server/runtime/workers.h"

namespace shoal::runtime {

/// The part of a stage that one worker does.
struct StagePiece {
  plan::Range elements;         ///< Of the output, or of the input of a reduction.
  WorkerId worker = kNoWorker;  ///< Where it has to run; none: anywhere.
  Duration cost{};
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

/// What a stage is made from. Inputs and output are typed and have memory.
struct StageInputs {
  const plan::Call* call = nullptr;
  absl::InlinedVector<Operand, 2> inputs;
  Operand output;
  const Workers* workers = nullptr;
};

/// Cuts [0, n) of `operand` into pieces: at its extents where workers hold them; front-end memory
/// into one piece per worker if the work is worth it, else into one that may run anywhere.
///
/// `unit` elements stay together (rows of a sort).
std::vector<StagePiece> CutIntoPieces(const StageInputs& inputs, const Operand& operand,
                                      int64_t unit);

std::unique_ptr<Stage> MakeMapStage(StageInputs inputs);
std::unique_ptr<Stage> MakeReduceStage(StageInputs inputs);
std::unique_ptr<Stage> MakeSortStage(StageInputs inputs);

/// The first stage of a call, by the form of its op.
std::unique_ptr<Stage> MakeStage(StageInputs inputs);

}  // namespace shoal::runtime
