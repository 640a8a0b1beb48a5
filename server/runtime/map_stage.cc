#include <memory>
#include <utility>
#include <vector>

#include "server/runtime/stage.h"
#include "server/runtime/staging.h"

namespace shoal::runtime {
namespace {

/// Elementwise: each piece of the output from the same elements of the inputs.
class MapStage final : public Stage {
 public:
  explicit MapStage(StageInputs inputs) : in_(std::move(inputs)) {
    pieces_ = CutIntoPieces(in_, in_.output, 1);
    memory_.resize(pieces_.size());
    for (StagePiece& piece : pieces_) {
      piece.workspace_bytes =
          WorkspaceBytes(*in_.workers, piece.worker, in_.output, piece.elements);
      for (const Operand& input : in_.inputs) {
        piece.workspace_bytes +=
            WorkspaceBytes(*in_.workers, piece.worker, input, ReadBy(input, piece.elements));
      }
    }
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range elements = pieces_[index].elements;
    PieceMemory& memory = memory_[index];
    device::MapWork work{.op = in_.call->op, .args = {}};
    work.args.dtype = in_.inputs[0].type.dtype;
    work.args.params = in_.call->params;
    work.args.count = elements.size();
    const auto output = memory.Write(worker, in_.output, elements);
    if (!output.ok()) return std::move(done)(output.status());
    work.args.output = *output;
    for (size_t i = 0; i < in_.inputs.size(); ++i) {
      const Operand& input = in_.inputs[i];
      work.args.broadcast[i] = IsBroadcast(input);
      const auto data = memory.Read(worker, input, ReadBy(input, elements));
      if (!data.ok()) return std::move(done)(data.status());
      work.args.inputs[i] = *data;
    }
    memory.Run(worker, work, cancelled, std::move(done));
  }

 private:
  bool IsBroadcast(const Operand& input) const {
    return input.element_count() == 1 && in_.output.element_count() != 1;
  }
  plan::Range ReadBy(const Operand& input, plan::Range elements) const {
    return IsBroadcast(input) ? plan::Range{0, 1} : elements;
  }

  const StageInputs in_;
  std::vector<PieceMemory> memory_;  // By piece.
};

}  // namespace

std::unique_ptr<Stage> MakeMapStage(StageInputs inputs) {
  return std::make_unique<MapStage>(std::move(inputs));
}

}  // namespace shoal::runtime
