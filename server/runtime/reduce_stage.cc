#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/reduce.h"
#include "server/runtime/stage.h"
#include "server/runtime/staging.h"

namespace shoal::runtime {
namespace {

/// Takes a value that the host made to an output that it cannot touch.
class StoreStage final : public Stage {
 public:
  explicit StoreStage(Operand output) : output_(std::move(output)) {
    pieces_.push_back({.elements = {0, 1}, .worker = output_.extents[0].worker});
  }

  /// To be filled in before it runs.
  std::byte* value() { return value_.data(); }

  void RunPiece(size_t, Worker& worker, device::CancelFlag, device::Done done) override {
    const int64_t bytes = output_.item_bytes();
    worker.stream->CopyIn({value_.data(), bytes}, {output_.Locate({0, 1}), bytes}, std::move(done));
  }

 private:
  const Operand output_;
  alignas(16) std::array<std::byte, 16> value_ = {};  // As large as any element.
};

/// Each piece folds its elements up to what the canonical tree leaves open; the coordinator joins
/// the partials in order, so that no cut changes a bit of the result.
class ReduceStage final : public Stage {
 public:
  explicit ReduceStage(StageInputs inputs) : in_(std::move(inputs)), access_(in_) {
    pieces_ = CutReduction(in_, 1);
    partials_.resize(pieces_.size());
    memory_.resize(pieces_.size());
    kernels_.resize(pieces_.size());
    for (StagePiece& piece : pieces_) {
      piece.workspace_bytes = access_.WorkspaceBytes(piece.worker, piece.elements);
    }
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range elements = pieces_[index].elements;
    PieceKernel& kernel = kernels_[index];
    absl::Status read = kernel.Read(access_, worker, elements, memory_[index]);
    if (!read.ok()) return std::move(done)(std::move(read));
    memory_[index].Run(worker,
                       device::ReduceWork{.op = in_.step->op,
                                          .kernel = &in_.step->kernel,
                                          .args = kernel.Args(*in_.step, elements),
                                          .out = &partials_[index]},
                       cancelled, std::move(done));
  }

  std::unique_ptr<Stage> Next() override {
    kernels::ReducePartial total = std::move(partials_[0]);
    for (size_t i = 1; i < partials_.size(); ++i) {
      total = kernels::cpu::Join(std::move(total), std::move(partials_[i]));
    }
    const Operand& output = in_.outputs[0];
    const bool in_place = output.host_addressable();
    std::unique_ptr<StoreStage> store;
    if (!in_place) store = std::make_unique<StoreStage>(output);
    std::byte* const place = in_place ? output.Locate({0, 1}) : store->value();
    kernels::cpu::Finish(*in_.step->op, in_.step->kernel.OutputDType(0), total, place);
    return store;
  }

 private:
  const StageInputs in_;
  const PieceKernel::Access access_;
  std::vector<kernels::ReducePartial> partials_;  // By piece.
  std::vector<PieceMemory> memory_;               // By piece.
  std::vector<PieceKernel> kernels_;              // By piece.
};

}  // namespace

std::unique_ptr<Stage> MakeReduceStage(StageInputs inputs) {
  return std::make_unique<ReduceStage>(std::move(inputs));
}

}  // namespace shoal::runtime
