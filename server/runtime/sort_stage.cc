#include <memory>
#include <utility>
#include <vector>

#include "server/plan/typing.h"
#include "server/runtime/stage.h"
#include "server/runtime/staging.h"

namespace shoal::runtime {
namespace {

int64_t RowElements(const plan::Shape& shape) {
  return shape.extents()[static_cast<size_t>(shape.rank()) - 1];
}

/// Second step of a long row: each piece takes the elements of its ranks from all sorted runs.
class MergeStage final : public Stage {
 public:
  MergeStage(StageInputs inputs, std::vector<StagePiece> pieces, std::vector<device::Buffer> runs)
      : in_(std::move(inputs)), buffers_(std::move(runs)) {
    pieces_ = std::move(pieces);
    for (const device::Buffer& run : buffers_) runs_.emplace_back(run.span());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range ranks = pieces_[index].elements;
    device::MergeWork work;
    work.dtype = in_.output.type.dtype;
    work.runs = runs_;
    work.first_rank = ranks.begin;
    work.output = {in_.output.Locate(ranks), ranks.size() * in_.output.item_bytes()};
    worker.stream->Launch(work, cancelled, std::move(done));
  }

 private:
  const StageInputs in_;
  const std::vector<device::Buffer> buffers_;
  std::vector<device::ConstSpan> runs_;
};

/// Sorts rows where they belong; one long row in several pieces becomes as many sorted runs in
/// workspace, which MergeStage then merges: all workers read all runs in place. Where they cannot,
/// one worker sorts the whole row.
class SortStage final : public Stage {
 public:
  explicit SortStage(StageInputs inputs) : in_(std::move(inputs)) {
    row_elements_ = RowElements(in_.output.type.shape);
    const bool one_row = in_.output.element_count() == row_elements_;
    pieces_ = CutIntoPieces(in_, in_.output, one_row ? 1 : row_elements_);
    merges_ = one_row && pieces_.size() > 1;
    if (merges_ && !in_.workers->host_addressable()) {
      merges_ = false;
      pieces_ = {{{0, row_elements_},
                  kNoWorker,
                  plan::EstimateCost(*in_.call->op, in_.output.element_count())}};
    }
    if (merges_) runs_.resize(pieces_.size());
    memory_.resize(pieces_.size());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range elements = pieces_[index].elements;
    PieceMemory& memory = memory_[index];
    std::byte* data = nullptr;
    if (merges_) {
      auto workspace = worker.device->Allocate(elements.size() * in_.output.item_bytes());
      if (!workspace.ok()) return std::move(done)(workspace.status());
      runs_[index] = *std::move(workspace);
      data = runs_[index].data();
    } else {
      const auto output = memory.Write(worker, in_.output, elements);
      if (!output.ok()) return std::move(done)(output.status());
      data = *output;
    }
    if (const auto* source = LocateFor(worker, in_.inputs[0], elements); source != nullptr) {
      // In order on the stream: the sort sees the copy. Its failure is the sort's business too.
      const int64_t bytes = elements.size() * in_.output.item_bytes();
      worker.stream->Copy({source, bytes}, {data, bytes}, [](const absl::Status&) {});
    } else {
      memory.Fill(worker, in_.inputs[0], elements, data);
    }
    device::SortWork work;
    work.args.dtype = in_.output.type.dtype;
    work.args.data = data;
    work.args.row_elements = merges_ ? elements.size() : row_elements_;
    work.args.row_count = elements.size() == 0 ? 0 : elements.size() / work.args.row_elements;
    memory.Run(worker, work, cancelled, std::move(done));
  }

  std::unique_ptr<Stage> Next() override {
    if (!merges_) return nullptr;
    return std::make_unique<MergeStage>(in_, pieces_, std::move(runs_));
  }

 private:
  const StageInputs in_;
  int64_t row_elements_ = 0;
  bool merges_ = false;
  std::vector<device::Buffer> runs_;  // By piece.
  std::vector<PieceMemory> memory_;   // By piece.
};

}  // namespace

std::unique_ptr<Stage> MakeSortStage(StageInputs inputs) {
  return std::make_unique<SortStage>(std::move(inputs));
}

}  // namespace shoal::runtime
