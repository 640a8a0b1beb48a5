#include "server/device/cpu/cpu_work.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/copy.h"
#include "base/units.h"
#include "kernels/cpu/map.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/sort.h"
#include "server/device/cpu/chunks.h"
#include "server/device/cpu/fold_work.h"

namespace shoal::device {
namespace {

using kernels::DType;
using kernels::ItemBytes;
using kernels::kLeafElements;

// Small enough to stop soon and to share evenly, large enough to hide what a chunk costs.
constexpr int64_t kMapChunkBytes = 256 * kKiB;
constexpr int64_t kReduceChunkBytes = kMiB;
constexpr int64_t kCopyChunkBytes = 512 * kKiB;
// Below, the bytes sit in a cache and one core moves them as fast as two.
constexpr int64_t kCopySplitBytesMin = 8 * kMiB;
constexpr int64_t kSortChunkElements = int64_t{1} << 16;
constexpr int64_t kMergeChunkElements = int64_t{1} << 16;
// A row is sorted in pieces of at most this many elements, so that it can be cancelled.
constexpr int64_t kSortPieceElementsMax = int64_t{8} << 20;

constexpr double kCopyNsPerByte = 0.1;
constexpr double kSortNsPerElement = 20.0;
constexpr double kMergeNsPerElement = 5.0;

/// Whole leaves of about `chunk_bytes`.
int64_t ChunkElements(int64_t chunk_bytes, DType dtype) {
  return std::max(chunk_bytes / ItemBytes(dtype) / kLeafElements, int64_t{1}) * kLeafElements;
}

void* Advance(void* data, int64_t elements, DType dtype) {
  return static_cast<std::byte*>(data) + elements * ItemBytes(dtype);
}

/// The kernel's outputs and those inputs that are as long.
template <class Use>
void ForEachArray(const MapWork& work, Use use) {
  for (size_t i = 0; i < work.args.outputs.size(); ++i) {
    use(work.args.outputs[i], ItemBytes(work.kernel->OutputDType(i)));
  }
  for (size_t i = 0; i < work.args.inputs.size(); ++i) {
    const kernels::MapInput& input = work.args.inputs[i];
    if (!input.single && input.axes.empty()) use(input.data, ItemBytes(work.kernel->inputs[i]));
  }
}

/// Streaming stores, where the arrays together do not fit the caches and none is written in place.
kernels::cpu::Stores StoresFor(const MapWork& work) {
  std::vector<const void*> seen;
  int64_t bytes = 0;
  ForEachArray(work, [&](const void* data, int64_t item_bytes) {
    if (std::find(seen.begin(), seen.end(), data) != seen.end()) return;
    seen.push_back(data);
    bytes += work.args.count * item_bytes;
  });
  const bool in_place = std::any_of(
      work.args.inputs.begin(), work.args.inputs.end(), [&](const kernels::MapInput& input) {
        return std::find(work.args.outputs.begin(), work.args.outputs.end(), input.data) !=
               work.args.outputs.end();
      });
  return !in_place && bytes >= StreamingFootprintMin() ? kernels::cpu::Stores::kStreaming
                                                       : kernels::cpu::Stores::kCached;
}

absl::Status Run(const MapWork& work, CancelFlag cancelled, const CpuContext& context) {
  DType widest = DType::kBool;
  for (size_t i = 0; i < work.kernel->outputs.size(); ++i) {
    const DType dtype = work.kernel->OutputDType(i);
    if (ItemBytes(dtype) > ItemBytes(widest)) widest = dtype;
  }
  const int64_t count = work.args.count;
  const int64_t chunk = ChunkElements(kMapChunkBytes, widest);
  const kernels::cpu::Stores stores =
      count <= chunk ? kernels::cpu::Stores::kCached : StoresFor(work);
  return ForChunks(CeilDiv(count, chunk), cancelled, context, [&](int64_t i) {
    kernels::cpu::RunMap(*work.kernel, work.args, {i * chunk, std::min(count, (i + 1) * chunk)},
                         stores);
  });
}

absl::Status Run(const ReduceWork& work, CancelFlag cancelled, const CpuContext& context) {
  const kernels::MapArgs& args = work.args;
  const DType dtype = work.kernel->OutputDType(0);
  SHOAL_CHECK(work.op->form == kernels::OpForm::kReduce);
  if (!work.op->Supports(dtype)) return NotBuilt(work.op->name, dtype);
  // Cuts are multiples of the chunk in global indices, so that inner chunks are whole subtrees.
  const int64_t chunk = ChunkElements(kReduceChunkBytes, dtype);
  const int64_t first_chunk = args.first_index / chunk;
  const int64_t end = args.first_index + args.count;
  const int64_t chunks = std::max(CeilDiv(end, chunk) - first_chunk, int64_t{1});
  std::vector<kernels::ReducePartial> partials(static_cast<size_t>(chunks));
  const absl::Status status = ForChunks(chunks, cancelled, context, [&](int64_t i) {
    const int64_t part_begin = std::max(args.first_index, (first_chunk + i) * chunk);
    const int64_t part_end = std::min(end, (first_chunk + i + 1) * chunk);
    partials[static_cast<size_t>(i)] = kernels::cpu::ReduceRange(
        *work.op, *work.kernel, args, {part_begin - args.first_index, part_end - args.first_index});
  });
  if (!status.ok()) return status;
  kernels::ReducePartial whole = std::move(partials[0]);
  for (size_t i = 1; i < partials.size(); ++i) {
    whole = kernels::cpu::Join(std::move(whole), std::move(partials[i]));
  }
  *work.out = std::move(whole);
  return absl::OkStatus();
}

absl::Status Run(const MergeWork& work, CancelFlag cancelled, const CpuContext& context) {
  SHOAL_CHECK(work.op->form == kernels::OpForm::kSort);
  if (!work.op->Supports(work.dtype)) return NotBuilt(work.op->name, work.dtype);
  std::vector<kernels::cpu::SortedRun> runs;
  for (const ConstSpan& run : work.runs) {
    runs.push_back({run.data, run.bytes / ItemBytes(work.dtype)});
  }
  const int64_t count = work.output.bytes / ItemBytes(work.dtype);
  const int64_t chunks = CeilDiv(count, kMergeChunkElements);
  return ForChunks(chunks, cancelled, context, [&](int64_t i) {
    const int64_t offset = i * kMergeChunkElements;
    kernels::cpu::MergeArgs part;
    part.dtype = work.dtype;
    part.runs = runs;
    part.first_rank = work.first_rank + offset;
    part.count = std::min(kMergeChunkElements, count - offset);
    part.output = Advance(work.output.data, offset, work.dtype);
    kernels::cpu::RunMerge(*work.op, part);
  });
}

/// Sorts one row in `pieces` of equal size and merges them through `scratch`.
absl::Status SortInPieces(const SortWork& work, int64_t pieces, CancelFlag cancelled,
                          const CpuContext& context) {
  const kernels::SortArgs& row = work.args;
  absl::StatusOr<Buffer> scratch =
      context.scratch->Allocate(row.row_elements * ItemBytes(row.dtype));
  if (!scratch.ok()) {
    kernels::cpu::RunSort(*work.op, row);  // Slower, and cannot be stopped, but needs no memory.
    return absl::OkStatus();
  }
  const int64_t piece = CeilDiv(row.row_elements, pieces);
  MergeWork merge;
  merge.op = work.op;
  merge.dtype = row.dtype;
  merge.output = scratch->span();
  for (int64_t begin = 0; begin < row.row_elements; begin += piece) {
    const int64_t count = std::min(piece, row.row_elements - begin);
    merge.runs.emplace_back(static_cast<std::byte*>(Advance(row.data, begin, row.dtype)),
                            count * ItemBytes(row.dtype));
  }
  const auto run_count = static_cast<int64_t>(merge.runs.size());
  absl::Status status = ForChunks(run_count, cancelled, context, [&](int64_t i) {
    kernels::SortArgs part = row;
    part.data = Advance(row.data, i * piece, row.dtype);
    part.row_elements = std::min(piece, row.row_elements - i * piece);
    kernels::cpu::RunSort(*work.op, part);
  });
  if (status.ok()) status = Run(merge, cancelled, context);
  if (status.ok()) {
    RunCopy(merge.output, {static_cast<std::byte*>(row.data), merge.output.bytes}, *context.team);
  }
  return status;
}

absl::Status Run(const SortWork& work, CancelFlag cancelled, const CpuContext& context) {
  const kernels::SortArgs& args = work.args;
  SHOAL_CHECK(work.op->form == kernels::OpForm::kSort);
  if (!work.op->Supports(args.dtype)) return NotBuilt(work.op->name, args.dtype);
  if (args.row_count == 0 || args.row_elements == 0) return absl::OkStatus();
  // With as many rows as threads each row is one thread's; else a long row is cut up.
  const int64_t threads = args.row_count >= context.team->width() ? 1 : context.team->width();
  const int64_t pieces = std::max(CeilDiv(args.row_elements, kSortPieceElementsMax),
                                  std::min(threads, args.row_elements / kSortChunkElements));
  const int64_t rows_per_chunk = std::max(kSortChunkElements / args.row_elements, int64_t{1});
  if (pieces <= 1) {
    return ForChunks(CeilDiv(args.row_count, rows_per_chunk), cancelled, context, [&](int64_t i) {
      kernels::SortArgs part = args;
      part.data = Advance(args.data, i * rows_per_chunk * args.row_elements, args.dtype);
      part.row_count = std::min(rows_per_chunk, args.row_count - i * rows_per_chunk);
      kernels::cpu::RunSort(*work.op, part);
    });
  }
  for (int64_t i = 0; i < args.row_count; ++i) {
    SortWork row = work;
    row.args.data = Advance(args.data, i * args.row_elements, args.dtype);
    row.args.row_count = 1;
    const absl::Status status = SortInPieces(row, pieces, cancelled, context);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

struct NsOnOneCore {
  double operator()(const MapWork& work) const {
    return kernels::CostOf(*work.kernel) * static_cast<double>(work.args.count);
  }
  static double OfFold(const kernels::OpInfo& op, const kernels::MapKernel& kernel, int64_t count) {
    // The table's figures are for float32.
    const auto size = static_cast<double>(ItemBytes(kernel.OutputDType(0))) / 4.0;
    const double fold = op.cost_ns_per_element * size;
    const double make = kernel.steps.empty() ? 0.0 : kernels::CostOf(kernel);
    return (fold + make) * static_cast<double>(count);
  }
  double operator()(const ReduceWork& work) const {
    return OfFold(*work.op, *work.kernel, work.args.count);
  }
  double operator()(const FoldWork& work) const {
    return OfFold(*work.op, *work.kernel, work.shape.blocks * work.shape.block_elements());
  }
  double operator()(const FoldRowsWork& work) const {
    return OfFold(*work.op, *work.kernel, work.args.count);
  }
  double operator()(const FinishRowsWork& work) const {
    // At most some dozens of rows for each column.
    return static_cast<double>(work.column_count) * 10.0;
  }
  double operator()(const SortWork& work) const {
    return kSortNsPerElement * static_cast<double>(work.args.row_count) *
           static_cast<double>(work.args.row_elements);
  }
  double operator()(const MergeWork& work) const {
    const int64_t count = work.output.bytes / ItemBytes(work.dtype);
    return kMergeNsPerElement * static_cast<double>(count);
  }
};

Duration FromNs(double ns) {
  constexpr double kNsMax = 1e18;
  return Duration(static_cast<int64_t>(std::min(ns, kNsMax)));
}

}  // namespace

absl::Status RunWork(const Work& work, CancelFlag cancelled, const CpuContext& context) {
  if (IsRaised(cancelled)) return absl::CancelledError("cancelled before it ran");
  return std::visit([&](const auto& kind) { return Run(kind, cancelled, context); }, work);
}

void RunCopy(ConstSpan source, Span target, threads::Team& team) {
  SHOAL_CHECK(source.bytes == target.bytes);
  if (source.bytes == 0 || source.data == target.data) return;
  if (source.bytes < kCopySplitBytesMin) {
    CopyBytes(target.data, source.data, source.bytes);
    return;
  }
  team.ParallelFor(CeilDiv(source.bytes, kCopyChunkBytes), [&](int64_t i) {
    const int64_t offset = i * kCopyChunkBytes;
    CopyBytes(target.data + offset, source.data + offset,
              std::min(kCopyChunkBytes, source.bytes - offset), 2 * source.bytes);
  });
}

Duration EstimatedCost(const Work& work) { return FromNs(std::visit(NsOnOneCore(), work)); }

Duration EstimatedCopyCost(int64_t bytes) {
  return FromNs(kCopyNsPerByte * static_cast<double>(bytes));
}

}  // namespace shoal::device
