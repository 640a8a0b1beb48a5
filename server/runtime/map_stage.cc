#include <memory>
#include <utility>
#include <vector>

#include "server/runtime/stage.h"

namespace shoal::runtime {
namespace {

/// Elementwise: each piece of the output from the same elements of the inputs.
class MapStage final : public Stage {
 public:
  explicit MapStage(StageInputs inputs) : in_(std::move(inputs)) {
    pieces_ = CutIntoPieces(in_, in_.output, 1);
    gathered_.resize(pieces_.size());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range elements = pieces_[index].elements;
    device::MapWork work{.op = in_.call->op, .args = {}};
    work.args.dtype = in_.inputs[0].type.dtype;
    work.args.params = in_.call->params;
    work.args.count = elements.size();
    work.args.output = in_.output.Locate(elements);
    for (size_t i = 0; i < in_.inputs.size(); ++i) {
      const Operand& input = in_.inputs[i];
      const bool broadcast = input.element_count() == 1 && in_.output.element_count() != 1;
      work.args.broadcast[i] = broadcast;
      auto data = Contiguous(input, broadcast ? plan::Range{0, 1} : elements, index, worker);
      if (!data.ok()) return std::move(done)(data.status());
      work.args.inputs[i] = *data;
    }
    worker.stream->Launch(work, cancelled, std::move(done));
  }

 private:
  /// The elements where they lie, or gathered into memory of the worker where they straddle the
  /// shards of an array that is laid out otherwise than the output.
  absl::StatusOr<const std::byte*> Contiguous(const Operand& input, plan::Range elements,
                                              size_t piece, Worker& worker) {
    if (const std::byte* data = input.Locate(elements); data != nullptr) return data;
    auto buffer = worker.device->Allocate(elements.size() * input.item_bytes());
    if (!buffer.ok()) return buffer.status();
    input.Gather(elements, buffer->data());
    return gathered_[piece].emplace_back(*std::move(buffer)).data();
  }

  const StageInputs in_;
  std::vector<std::vector<device::Buffer>> gathered_;  // By piece.
};

}  // namespace

std::unique_ptr<Stage> MakeMapStage(StageInputs inputs) {
  return std::make_unique<MapStage>(std::move(inputs));
}

}  // namespace shoal::runtime
