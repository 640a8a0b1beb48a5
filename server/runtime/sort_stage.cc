#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "server/plan/typing.h"
#include "server/runtime/stage.h"
#include "server/runtime/staging.h"

namespace shoal::runtime {
namespace {

int64_t RowElements(const plan::Shape& shape) {
  return shape.extents()[static_cast<size_t>(shape.rank()) - 1];
}

/// A sorted part of the row in a worker's workspace, which stays there from one stage to the next.
struct Run {
  memory::Reservation counted;  // As stored; goes after the buffer.
  device::Buffer buffer;
};

/// Second step of a long row: each piece takes the elements of its ranks from all sorted runs.
///
/// It runs anywhere, needing no memory: pinned, it could come to wait behind a piece that waits for
/// the memory of these very runs.
class MergeStage final : public Stage {
 public:
  MergeStage(StageInputs inputs, const std::vector<StagePiece>& pieces, std::vector<Run> runs)
      : in_(std::move(inputs)), buffers_(std::move(runs)) {
    for (const StagePiece& piece : pieces) {
      pieces_.push_back({.elements = piece.elements, .cost = piece.cost});
    }
    for (const Run& run : buffers_) runs_.emplace_back(run.buffer.span());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range ranks = pieces_[index].elements;
    device::MergeWork work;
    work.op = in_.step->op;
    work.dtype = in_.outputs[0].type.dtype;
    work.runs = runs_;
    work.first_rank = ranks.begin;
    work.output = {in_.outputs[0].Locate(ranks), ranks.size() * in_.outputs[0].item_bytes()};
    worker.stream->Launch(work, cancelled, std::move(done));
  }

 private:
  const StageInputs in_;
  const std::vector<Run> buffers_;
  std::vector<device::ConstSpan> runs_;
};

/// Sorts rows where they belong; one long row in several pieces becomes as many sorted runs in
/// workspace, which MergeStage then merges: all workers read all runs in place. Where they cannot,
/// one worker sorts the whole row.
class SortStage final : public Stage {
 public:
  explicit SortStage(StageInputs inputs) : in_(std::move(inputs)) {
    row_elements_ = RowElements(in_.outputs[0].type.shape);
    const bool one_row = in_.outputs[0].element_count() == row_elements_;
    pieces_ = CutIntoPieces(in_, in_.outputs[0], one_row ? 1 : row_elements_);
    merges_ = one_row && pieces_.size() > 1;
    if (merges_ && !in_.workers->host_addressable()) {
      merges_ = false;
      pieces_ = {{{0, row_elements_},
                  kNoWorker,
                  plan::EstimateCost(*in_.step->op, in_.outputs[0].element_count()),
                  /*workspace_bytes=*/0,
                  /*keeps_workspace=*/false}};
    }
    if (merges_) runs_.resize(pieces_.size());
    memory_.resize(pieces_.size());
    for (StagePiece& piece : pieces_) {
      piece.keeps_workspace = merges_;
      piece.workspace_bytes =
          merges_ ? piece.elements.size() * in_.outputs[0].item_bytes()
                  : WorkspaceBytes(*in_.workers, piece.worker, in_.outputs[0], piece.elements);
    }
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range elements = pieces_[index].elements;
    PieceMemory& memory = memory_[index];
    std::byte* data = nullptr;
    if (merges_) {
      const absl::Status made = MakeRun(worker, pieces_[index].workspace_bytes, &runs_[index]);
      if (!made.ok()) return std::move(done)(made);
      data = runs_[index].buffer.data();
    } else {
      const auto output = memory.Write(worker, in_.outputs[0], elements);
      if (!output.ok()) return std::move(done)(output.status());
      data = *output;
    }
    if (const auto* source = LocateFor(worker, in_.inputs[0], elements); source != nullptr) {
      // In order on the stream: the sort sees the copy. Its failure is the sort's business too.
      const int64_t bytes = elements.size() * in_.outputs[0].item_bytes();
      worker.stream->Copy({source, bytes}, {data, bytes}, [](const absl::Status&) {});
    } else {
      memory.Fill(worker, in_.inputs[0], elements, data);
    }
    device::SortWork work;
    work.op = in_.step->op;
    work.args.dtype = in_.outputs[0].type.dtype;
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
  static absl::Status MakeRun(Worker& worker, int64_t bytes, Run* run) {
    SHOAL_ASSIGN_OR_RETURN(run->buffer, worker.device->Allocate(bytes));
    SHOAL_ASSIGN_OR_RETURN(run->counted, worker.stored->Reserve(bytes));
    return absl::OkStatus();
  }

  const StageInputs in_;
  int64_t row_elements_ = 0;
  bool merges_ = false;
  std::vector<Run> runs_;            // By piece.
  std::vector<PieceMemory> memory_;  // By piece.
};

}  // namespace

std::unique_ptr<Stage> MakeSortStage(StageInputs inputs) {
  return std::make_unique<SortStage>(std::move(inputs));
}

}  // namespace shoal::runtime
