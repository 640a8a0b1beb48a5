#include <memory>
#include <utility>
#include <vector>

#include "kernels/cpu/reduce.h"
#include "server/runtime/stage.h"

namespace shoal::runtime {
namespace {

/// Each piece folds its elements up to what the canonical tree leaves open; the coordinator joins
/// the partials in order, so that no cut changes a bit of the result.
class ReduceStage final : public Stage {
 public:
  explicit ReduceStage(StageInputs inputs) : in_(std::move(inputs)) {
    pieces_ = CutIntoPieces(in_, in_.inputs[0], 1);
    partials_.resize(pieces_.size());
    gathered_.resize(pieces_.size());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range elements = pieces_[index].elements;
    device::ReduceWork work{.op = in_.call->op, .args = {}, .out = &partials_[index]};
    work.args.dtype = in_.inputs[0].type.dtype;
    work.args.first_index = elements.begin;
    work.args.count = elements.size();
    for (size_t i = 0; i < in_.inputs.size(); ++i) {
      const std::byte* data = in_.inputs[i].Locate(elements);
      if (data == nullptr) {
        auto buffer = worker.device->Allocate(elements.size() * in_.inputs[i].item_bytes());
        if (!buffer.ok()) return std::move(done)(buffer.status());
        in_.inputs[i].Gather(elements, buffer->data());
        data = gathered_[index].emplace_back(*std::move(buffer)).data();
      }
      work.args.inputs[i] = data;
    }
    worker.stream->Launch(work, cancelled, std::move(done));
  }

  std::unique_ptr<Stage> Next() override {
    kernels::ReducePartial total = std::move(partials_[0]);
    for (size_t i = 1; i < partials_.size(); ++i) {
      total = kernels::cpu::Join(std::move(total), std::move(partials_[i]));
    }
    kernels::cpu::Finish(*in_.call->op, in_.inputs[0].type.dtype, total, in_.output.Locate({0, 1}));
    return nullptr;
  }

 private:
  const StageInputs in_;
  std::vector<kernels::ReducePartial> partials_;       // By piece.
  std::vector<std::vector<device::Buffer>> gathered_;  // By piece.
};

}  // namespace

std::unique_ptr<Stage> MakeReduceStage(StageInputs inputs) {
  return std::make_unique<ReduceStage>(std::move(inputs));
}

}  // namespace shoal::runtime
