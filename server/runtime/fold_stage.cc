#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status.h"
#include "kernels/cpu/fold_rows.h"
#include "server/runtime/stage.h"
#include "server/runtime/staging.h"

namespace shoal::runtime {
namespace {

/// Each piece folds whole blocks where they lie, and has their results.
class BlockStage final : public Stage {
 public:
  explicit BlockStage(StageInputs inputs) : in_(std::move(inputs)), access_(in_) {
    const kernels::FoldShape& fold = in_.step->fold;
    const bool empty = fold.block_elements() == 0;
    // Without elements there is nothing to cut, and there may be results all the same.
    pieces_ = empty ? std::vector<StagePiece>(1) : CutReduction(in_, fold.block_elements());
    memory_.resize(pieces_.size());
    kernels_.resize(pieces_.size());
    for (StagePiece& piece : pieces_) {
      const int64_t elements = fold.block_elements();
      SHOAL_CHECK(empty || (piece.elements.begin % elements | piece.elements.end % elements) == 0);
      blocks_.push_back(
          empty ? plan::Range{0, fold.blocks}
                : plan::Range{piece.elements.begin / elements, piece.elements.end / elements});
      piece.workspace_bytes =
          access_.WorkspaceBytes(piece.worker, piece.elements) +
          WorkspaceBytes(*in_.workers, piece.worker, in_.outputs[0], ResultsOf(blocks_.back()));
    }
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    PieceMemory& memory = memory_[index];
    PieceKernel& kernel = kernels_[index];
    const plan::Range elements = pieces_[index].elements;
    const auto output = memory.Write(worker, in_.outputs[0], ResultsOf(blocks_[index]));
    if (!output.ok()) return std::move(done)(output.status());
    absl::Status read = kernel.Read(access_, worker, elements, memory);
    if (!read.ok()) return std::move(done)(std::move(read));
    kernels::FoldShape shape = in_.step->fold;
    shape.blocks = blocks_[index].size();
    memory.Run(worker,
               device::FoldWork{.op = in_.step->op,
                                .kernel = &in_.step->kernel,
                                .args = kernel.Args(*in_.step, elements),
                                .shape = shape,
                                .out = *output},
               cancelled, std::move(done));
  }

 private:
  plan::Range ResultsOf(plan::Range blocks) const {
    const int64_t columns = in_.step->fold.columns;
    return {blocks.begin * columns, blocks.end * columns};
  }

  const StageInputs in_;
  const PieceKernel::Access access_;
  std::vector<plan::Range> blocks_;   // By piece.
  std::vector<PieceMemory> memory_;   // By piece.
  std::vector<PieceKernel> kernels_;  // By piece.
};

/// What the pieces of a RowStage made.
struct RowPartials {
  std::vector<kernels::RowPartial> partials;
  std::vector<memory::Reservation> counted;
};

/// Second step of a block whose rows lie on several workers: each piece has the results of some
/// columns.
class FinishStage final : public Stage {
 public:
  FinishStage(StageInputs inputs, RowPartials rows)
      : in_(std::move(inputs)), rows_(std::move(rows)) {
    pieces_ = CutIntoPieces(in_, in_.outputs[0], 1);
    memory_.resize(pieces_.size());
    for (StagePiece& piece : pieces_) {
      piece.workspace_bytes =
          WorkspaceBytes(*in_.workers, piece.worker, in_.outputs[0], piece.elements);
    }
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const plan::Range columns = pieces_[index].elements;
    const auto output = memory_[index].Write(worker, in_.outputs[0], columns);
    if (!output.ok()) return std::move(done)(output.status());
    memory_[index].Run(worker,
                       device::FinishRowsWork{.op = in_.step->op,
                                              .dtype = in_.step->kernel.OutputDType(0),
                                              .partials = rows_.partials,
                                              .first_column = columns.begin,
                                              .column_count = columns.size(),
                                              .out = *output},
                       cancelled, std::move(done));
  }

 private:
  const StageInputs in_;
  const RowPartials rows_;
  std::vector<PieceMemory> memory_;  // By piece.
};

/// One block over several workers: each piece folds its rows up to what the row tree leaves open,
/// so that no cut changes a bit of the result.
class RowStage final : public Stage {
 public:
  RowStage(StageInputs inputs, std::vector<StagePiece> pieces)
      : in_(std::move(inputs)), access_(in_) {
    pieces_ = std::move(pieces);
    memory_.resize(pieces_.size());
    kernels_.resize(pieces_.size());
    partials_.resize(pieces_.size());
    for (StagePiece& piece : pieces_) {
      bytes_.push_back(kernels::cpu::RowPartialBytes(*in_.step->op, in_.step->kernel.OutputDType(0),
                                                     RowsOf(piece), in_.step->fold.columns));
      piece.keeps_workspace = true;
      piece.workspace_bytes = access_.WorkspaceBytes(piece.worker, piece.elements) + bytes_.back();
    }
    counted_.resize(pieces_.size());
  }

  void RunPiece(size_t index, Worker& worker, device::CancelFlag cancelled,
                device::Done done) override {
    const StagePiece& piece = pieces_[index];
    PieceKernel& kernel = kernels_[index];
    absl::Status status = kernel.Read(access_, worker, piece.elements, memory_[index]);
    if (status.ok()) {
      auto counted = worker.stored->Reserve(bytes_[index]);
      status = counted.status();
      if (counted.ok()) counted_[index] = *std::move(counted);
    }
    if (!status.ok()) return std::move(done)(std::move(status));
    memory_[index].Run(worker,
                       device::FoldRowsWork{.op = in_.step->op,
                                            .kernel = &in_.step->kernel,
                                            .args = kernel.Args(*in_.step, piece.elements),
                                            .first_row = RowsOf(piece).begin,
                                            .columns = in_.step->fold.columns,
                                            .out = &partials_[index]},
                       cancelled, std::move(done));
  }

  std::unique_ptr<Stage> Next() override {
    RowPartials rows;
    for (std::vector<kernels::RowPartial>& partials : partials_) {
      std::move(partials.begin(), partials.end(), std::back_inserter(rows.partials));
    }
    rows.counted = std::move(counted_);
    return std::make_unique<FinishStage>(in_, std::move(rows));
  }

 private:
  kernels::cpu::MapRange RowsOf(const StagePiece& piece) const {
    const int64_t columns = in_.step->fold.columns;
    return {piece.elements.begin / columns, piece.elements.end / columns};
  }

  const StageInputs in_;
  const PieceKernel::Access access_;
  std::vector<int64_t> bytes_;  // By piece, as all below.
  std::vector<memory::Reservation> counted_;
  std::vector<std::vector<kernels::RowPartial>> partials_;
  std::vector<PieceMemory> memory_;
  std::vector<PieceKernel> kernels_;
};

}  // namespace

std::unique_ptr<Stage> MakeFoldStage(StageInputs inputs) {
  const kernels::FoldShape& fold = inputs.step->fold;
  if (fold.blocks == 1 && fold.block_elements() > 0) {
    std::vector<StagePiece> pieces = CutReduction(inputs, fold.columns);
    if (pieces.size() > 1) return std::make_unique<RowStage>(std::move(inputs), std::move(pieces));
  }
  return std::make_unique<BlockStage>(std::move(inputs));
}

}  // namespace shoal::runtime
