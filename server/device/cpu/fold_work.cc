#include "server/device/cpu/fold_work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/units.h"
#include "kernels/cpu/fold_rows.h"
#include "kernels/cpu/reduce.h"
#include "server/device/cpu/chunks.h"

namespace shoal::device {
namespace {

using kernels::DType;
using kernels::FoldShape;
using kernels::ItemBytes;
using kernels::kLeafRows;
using kernels::cpu::MapRange;
using Partials = std::vector<kernels::RowPartial>;

constexpr int64_t kFoldChunkBytes = kMiB;
constexpr int64_t kColumnsPerPart = 1024;
constexpr int64_t kRowsPerChunkMin = 64;

void* Advance(void* data, int64_t elements, DType dtype) {
  return static_cast<std::byte*>(data) + elements * ItemBytes(dtype);
}

/// Some rows of a block, of all its columns.
struct Rows {
  MapRange in_block;
  int64_t first_of_args = 0;  ///< Row of the args that is the first of them.
  int64_t columns = 0;

  int64_t count() const { return in_block.end - in_block.begin; }
};

/// Memory for the partials of the rows: of many columns one, whose columns the threads share; else
/// several, a thread each, cut at leaves of the block.
Partials NewPartials(const kernels::OpInfo& op, DType dtype, const Rows& rows, int64_t threads) {
  Partials partials;
  int64_t chunk = INT64_MAX;
  if (rows.columns < threads * kColumnsPerPart) {
    const int64_t wanted = std::max({kRowsPerChunkMin, CeilDiv(rows.count(), 4 * threads),
                                     kFoldChunkBytes / (rows.columns * ItemBytes(dtype))});
    chunk = CeilDiv(wanted, kLeafRows) * kLeafRows;
  }
  for (int64_t begin = rows.in_block.begin; begin < rows.in_block.end;) {
    const int64_t to_cut = chunk - begin % chunk;
    const int64_t end = to_cut < rows.in_block.end - begin ? begin + to_cut : rows.in_block.end;
    partials.push_back(kernels::cpu::NewRowPartial(op, dtype, {begin, end}, rows.columns));
    begin = end;
  }
  return partials;
}

/// Fills them in.
template <class Source>
absl::Status FoldInto(const Source& source, const Rows& rows, Partials& partials,
                      CancelFlag cancelled, const CpuContext& context) {
  const auto fold = [&](kernels::RowPartial& partial, MapRange columns) {
    const int64_t first_row = rows.first_of_args + partial.begin - rows.in_block.begin;
    kernels::cpu::FoldRows(*source.op, *source.kernel, source.args, first_row, rows.columns,
                           columns, partial);
  };
  if (partials.size() > 1) {
    return ForChunks(static_cast<int64_t>(partials.size()), cancelled, context, [&](int64_t i) {
      fold(partials[static_cast<size_t>(i)], {0, rows.columns});
    });
  }
  return ForChunks(CeilDiv(rows.columns, kColumnsPerPart), cancelled, context, [&](int64_t i) {
    const int64_t begin = i * kColumnsPerPart;
    fold(partials[0], {begin, std::min(begin + kColumnsPerPart, rows.columns)});
  });
}

/// One long block of one column, cut at leaves.
absl::Status FoldTerms(const FoldWork& work, int64_t block, void* out, CancelFlag cancelled,
                       const CpuContext& context) {
  const DType input = work.kernel->OutputDType(0);
  const int64_t terms = work.shape.rows;
  const int64_t leaf_bytes = kernels::kLeafElements * ItemBytes(input);
  const int64_t chunk = std::max(kFoldChunkBytes / leaf_bytes, int64_t{1}) * kernels::kLeafElements;
  const int64_t chunks = CeilDiv(terms, chunk);
  std::vector<kernels::ReducePartial> partials(static_cast<size_t>(chunks));
  const absl::Status status = ForChunks(chunks, cancelled, context, [&](int64_t i) {
    const int64_t begin = i * chunk;
    const int64_t end = std::min(begin + chunk, terms);
    partials[static_cast<size_t>(i)] = kernels::cpu::ReduceRange(
        *work.op, *work.kernel, work.args, {block * terms + begin, block * terms + end}, begin);
  });
  if (!status.ok()) return status;
  kernels::ReducePartial whole = std::move(partials[0]);
  for (size_t i = 1; i < partials.size(); ++i) {
    whole = kernels::cpu::Join(std::move(whole), std::move(partials[i]));
  }
  kernels::cpu::Finish(*work.op, input, whole, out);
  return absl::OkStatus();
}

/// One large block, shared by the threads.
absl::Status FoldOneBlock(const FoldWork& work, int64_t block, void* out, CancelFlag cancelled,
                          const CpuContext& context) {
  const FoldShape& shape = work.shape;
  const DType input = work.kernel->OutputDType(0);
  if (shape.columns == 1) return FoldTerms(work, block, out, cancelled, context);
  const Rows rows = {{0, shape.rows}, block * shape.rows, shape.columns};
  Partials partials = NewPartials(*work.op, input, rows, context.team->width());
  const absl::Status status = FoldInto(work, rows, partials, cancelled, context);
  if (!status.ok()) return status;
  return Run(FinishRowsWork{.op = work.op,
                            .dtype = input,
                            .partials = partials,
                            .first_column = 0,
                            .column_count = shape.columns,
                            .out = out},
             cancelled, context);
}

}  // namespace

absl::Status Run(const FoldWork& work, CancelFlag cancelled, const CpuContext& context) {
  const FoldShape& shape = work.shape;
  const DType input = work.kernel->OutputDType(0);
  if (!work.op->Supports(input)) return NotBuilt(work.op->name, input);
  const DType output = OutputDType(*work.op, input);
  const int64_t block_bytes = shape.block_elements() * ItemBytes(input);
  const auto at = [&](int64_t block) { return Advance(work.out, block * shape.columns, output); };
  // Blocks are shared out whole where there are enough of them.
  if (block_bytes <= 2 * kFoldChunkBytes || shape.blocks >= 4 * context.team->width()) {
    const int64_t chunk = std::max(kFoldChunkBytes / std::max(block_bytes, int64_t{1}), int64_t{1});
    return ForChunks(CeilDiv(shape.blocks, chunk), cancelled, context, [&](int64_t i) {
      const MapRange blocks = {i * chunk, std::min((i + 1) * chunk, shape.blocks)};
      kernels::cpu::FoldBlocks(*work.op, *work.kernel, work.args, shape, blocks, at(blocks.begin));
    });
  }
  for (int64_t block = 0; block < shape.blocks; ++block) {
    const absl::Status status = FoldOneBlock(work, block, at(block), cancelled, context);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Run(const FoldRowsWork& work, CancelFlag cancelled, const CpuContext& context) {
  const DType input = work.kernel->OutputDType(0);
  if (!work.op->Supports(input)) return NotBuilt(work.op->name, input);
  const int64_t count = work.args.count / work.columns;
  const Rows rows = {{work.first_row, work.first_row + count}, 0, work.columns};
  Partials partials = NewPartials(*work.op, input, rows, context.team->width());
  absl::Status status = FoldInto(work, rows, partials, cancelled, context);
  if (status.ok()) *work.out = std::move(partials);
  return status;
}

absl::Status Run(const FinishRowsWork& work, CancelFlag cancelled, const CpuContext& context) {
  const DType output = OutputDType(*work.op, work.dtype);
  const int64_t parts = CeilDiv(work.column_count, kColumnsPerPart);
  return ForChunks(parts, cancelled, context, [&](int64_t i) {
    const int64_t begin = i * kColumnsPerPart;
    const int64_t end = std::min(begin + kColumnsPerPart, work.column_count);
    kernels::cpu::FinishRows(*work.op, work.dtype, work.partials,
                             {work.first_column + begin, work.first_column + end},
                             Advance(work.out, begin, output));
  });
}

}  // namespace shoal::device
