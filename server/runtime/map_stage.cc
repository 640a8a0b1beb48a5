#include <memory>
#include <utility>
#include <vector>

#include "server/runtime/stage.h"

namespace shoal::runtime {
namespace {

/// Elementwise: each piece of the outputs from the same elements of the inputs.
class MapStage final : public Stage {
 public:
  explicit MapStage(StageInputs inputs) : in_(std::move(inputs)), access_(in_) {
    pieces_ = CutIntoPieces(in_, in_.outputs[0], 1);
    memory_.resize(pieces_.size());
    kernels_.resize(pieces_.size());
    for (StagePiece& piece : pieces_) {
      piece.workspace_bytes = access_.WorkspaceBytes(piece.worker, piece.elements);
      for (const Operand& output : in_.outputs) {
        piece.workspace_bytes += WorkspaceBytes(*in_.workers, piece.worker, output, piece.elements);
      }
    }
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range elements = pieces_[index].elements;
    PieceMemory& memory = memory_[index];
    PieceKernel& kernel = kernels_[index];
    for (const Operand& output : in_.outputs) {
      const auto data = memory.Write(worker, output, elements);
      if (!data.ok()) return std::move(done)(data.status());
      kernel.outputs.push_back(*data);
    }
    absl::Status read = kernel.Read(access_, worker, elements, memory);
    if (!read.ok()) return std::move(done)(std::move(read));
    memory.Run(
        worker,
        device::MapWork{.kernel = &in_.step->kernel, .args = kernel.Args(*in_.step, elements)},
        cancelled, std::move(done));
  }

 private:
  const StageInputs in_;
  const PieceKernel::Access access_;
  std::vector<PieceMemory> memory_;   // By piece.
  std::vector<PieceKernel> kernels_;  // By piece.
};

}  // namespace

std::unique_ptr<Stage> MakeMapStage(StageInputs inputs) {
  return std::make_unique<MapStage>(std::move(inputs));
}

}  // namespace shoal::runtime
