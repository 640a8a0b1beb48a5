#include "server/runtime/stage.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "kernels/broadcast.h"
#include "server/plan/typing.h"

namespace shoal::runtime {
namespace {

// Below this, handing a piece to another core costs more than the core saves: two wake-ups.
constexpr Duration kWorthCutting = std::chrono::microseconds(200);

std::vector<StagePiece> CutAnywhere(const StageInputs& inputs, int64_t count, int64_t unit) {
  const Duration cost = plan::EstimateCost(*inputs.step, count);
  const int64_t units = unit == 0 ? 0 : count / unit;
  const int workers = inputs.workers->count();
  if (cost < kWorthCutting || workers == 1 || units < workers) {
    return {{.elements = {0, count}, .cost = cost}};
  }
  std::vector<StagePiece> pieces;
  for (int rank = 0; rank < workers; ++rank) {
    const plan::Range range = plan::BlockRange(units, workers, rank);
    pieces.push_back({.elements = {range.begin * unit, range.end * unit},
                      .worker = inputs.workers->ids()[static_cast<size_t>(rank)],
                      .cost = cost / workers});
  }
  return pieces;
}

}  // namespace

std::vector<StagePiece> CutIntoPieces(const StageInputs& inputs, const Operand& operand,
                                      int64_t unit) {
  const bool front_end = operand.extents.size() == 1 && operand.extents[0].worker == kNoWorker;
  if (front_end) return CutAnywhere(inputs, operand.element_count(), unit);
  std::vector<StagePiece> pieces;
  for (const Extent& extent : operand.extents) {
    if (extent.elements.size() == 0 && operand.extents.size() > 1) continue;
    pieces.push_back({.elements = extent.elements,
                      .worker = extent.worker,
                      .cost = plan::EstimateCost(*inputs.step, extent.elements.size())});
  }
  if (pieces.empty()) pieces.emplace_back();
  return pieces;
}

std::vector<StagePiece> CutReduction(const StageInputs& inputs, int64_t unit) {
  for (const Operand& input : inputs.inputs) {
    if (input.type.shape == inputs.step->domain) return CutIntoPieces(inputs, input, unit);
  }
  return CutAnywhere(inputs, inputs.step->domain.element_count(), unit);
}

PieceKernel::Access::Access(const StageInputs& inputs) : inputs_(inputs) {
  const kernels::Shape& domain = inputs.step->domain;
  for (const Operand& input : inputs.inputs) {
    const bool single = input.element_count() == 1 && domain.element_count() != 1;
    single_.push_back(single);
    axes_.push_back(single ? std::vector<kernels::BroadcastAxis>()
                           : kernels::BroadcastAxes(input.type.shape, domain));
  }
}

plan::Range PieceKernel::Access::ReadBy(size_t index, plan::Range elements) const {
  const bool plain = !single_[index] && axes_[index].empty();
  if (plain || elements.size() == 0) return elements.size() == 0 ? plan::Range{0, 0} : elements;
  return {0, inputs_.inputs[index].element_count()};
}

int64_t PieceKernel::Access::WorkspaceBytes(WorkerId worker, plan::Range elements) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < inputs_.inputs.size(); ++i) {
    bytes +=
        runtime::WorkspaceBytes(*inputs_.workers, worker, inputs_.inputs[i], ReadBy(i, elements));
  }
  return bytes;
}

absl::Status PieceKernel::Read(const Access& access, Worker& worker, plan::Range elements,
                               PieceMemory& memory) {
  for (size_t i = 0; i < access.inputs_.inputs.size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(const std::byte* data, memory.Read(worker, access.inputs_.inputs[i],
                                                              access.ReadBy(i, elements)));
    inputs_.push_back({.data = data, .axes = access.axes_[i], .single = access.single_[i]});
  }
  return absl::OkStatus();
}

kernels::MapArgs PieceKernel::Args(const kernels::program::Step& step, plan::Range elements) const {
  return {.inputs = inputs_,
          .scalars = step.scalars,
          .outputs = outputs,
          .first_index = elements.begin,
          .count = elements.size()};
}

std::unique_ptr<Stage> MakeStage(StageInputs inputs) {
  switch (inputs.step->form) {
    case kernels::OpForm::kMap:
      return MakeMapStage(std::move(inputs));
    case kernels::OpForm::kReduce:
      return inputs.step->fold.blocks == 1 && inputs.step->fold.columns == 1
                 ? MakeReduceStage(std::move(inputs))
                 : MakeFoldStage(std::move(inputs));
    case kernels::OpForm::kSort:
      return MakeSortStage(std::move(inputs));
    case kernels::OpForm::kMove:
      break;
  }
  SHOAL_UNREACHABLE("no step is of that form");
}

}  // namespace shoal::runtime
