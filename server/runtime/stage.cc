#include "server/runtime/stage.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "server/plan/typing.h"

namespace shoal::runtime {
namespace {

// Below this, handing a piece to another core costs more than the core saves: two wake-ups.
constexpr Duration kWorthCutting = std::chrono::microseconds(200);

std::vector<StagePiece> CutFrontEndMemory(const StageInputs& inputs, int64_t count, int64_t unit) {
  const Duration cost = plan::EstimateCost(*inputs.call->op, count);
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
  if (front_end) return CutFrontEndMemory(inputs, operand.element_count(), unit);
  std::vector<StagePiece> pieces;
  for (const Extent& extent : operand.extents) {
    if (extent.elements.size() == 0 && operand.extents.size() > 1) continue;
    pieces.push_back({.elements = extent.elements,
                      .worker = extent.worker,
                      .cost = plan::EstimateCost(*inputs.call->op, extent.elements.size())});
  }
  if (pieces.empty()) pieces.emplace_back();
  return pieces;
}

std::unique_ptr<Stage> MakeStage(StageInputs inputs) {
  switch (inputs.call->op->form) {
    case kernels::OpForm::kMap:
      return MakeMapStage(std::move(inputs));
    case kernels::OpForm::kReduce:
      return MakeReduceStage(std::move(inputs));
    case kernels::OpForm::kSort:
      return MakeSortStage(std::move(inputs));
  }
  SHOAL_UNREACHABLE("form out of range");
}

}  // namespace shoal::runtime
