#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/map.h"
#include "kernels/map.h"
#include "kernels/reduce.h"
#include "kernels/registry.h"

// Folds over the rows of blocks (FoldShape), on the calling thread. Ops of form kReduce with one
// input. A kernel makes the terms: element i of the whole array, blocks and all, is its element i.
//
// Thread-safety: functions of their arguments; any number of calls at once.
namespace shoal::kernels::cpu {

/// Folds whole blocks: `blocks` of them, counted from the one at the args' first element.
/// `outputs` gets the results of that range, in the output's dtype.
///
/// Requires: at least one row, unless the op has a value of no terms.
/// Cost: one read of the blocks; a buffer of 64 Ki elements where the kernel computes, once per
///   thread.
void FoldBlocks(const OpInfo& op, const MapKernel& kernel, const MapArgs& args, FoldShape shape,
                MapRange blocks, void* outputs);

/// Memory for the partial of such rows; contents undefined.
RowPartial NewRowPartial(const OpInfo& op, DType input, MapRange rows, int64_t columns);

/// Bytes that it holds.
int64_t RowPartialBytes(const OpInfo& op, DType input, MapRange rows, int64_t columns);

/// Fills in the columns `part` of a partial of `columns` columns. The partial's first row is row
/// `first_row` of what the args describe.
void FoldRows(const OpInfo& op, const MapKernel& kernel, const MapArgs& args, int64_t first_row,
              int64_t columns, MapRange part, RowPartial& partial);

/// Writes the results of columns [columns.begin, columns.end) of a block, in the output's dtype,
/// from the partials of all its rows, in order. Requires at least one row.
void FinishRows(const OpInfo& op, DType input, std::span<const RowPartial> partials,
                MapRange columns, void* outputs);

}  // namespace shoal::kernels::cpu
