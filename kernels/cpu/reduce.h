#pragma once

#include "kernels/cpu/map.h"
#include "kernels/map.h"
#include "kernels/reduce.h"
#include "kernels/registry.h"

// Reductions by the canonical tree (kernels/reduce.h), on the calling thread. A caller with several
// threads or shards gives each a range (leaf-aligned cuts are the cheap ones), joins the partials
// of neighbours in any association, and finishes the one that covers the whole array.
//
// Thread-safety: functions of their arguments; any number of calls at once.
namespace shoal::kernels::cpu {

/// The contribution of the range [first_index, first_index + count).
///
/// Requires: `op` is an element of AllOps() of form kReduce that supports the dtype.
/// Cost: one read of the range; allocates the partial only (at most 130 KiB, for cuts that are not
///   leaf-aligned; under 4 KiB for those that are).
ReducePartial ReduceRange(const OpInfo& op, const ReduceArgs& args);

/// The same where the op's inputs are made by a kernel, from what `args` describes (its outputs are
/// not used): elements [range.begin, range.end) of it. Terms are numbered by its index, or from
/// `first_term` on.
///
/// Requires: kernel outputs as the op has inputs, of one dtype that it supports.
/// Cost: besides, a buffer of 64 Ki elements for each output, once per thread.
ReducePartial ReduceRange(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange range);
ReducePartial ReduceRange(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                          MapRange range, int64_t first_term);

/// The partial of two neighbours: requires left.end == right.begin, and the same op and dtype.
///
/// Either may be empty. Cost: at most one leaf and 102 nodes are folded.
ReducePartial Join(ReducePartial left, ReducePartial right);

/// Writes the value of a whole array, whose partial begins at 0, as one element of the output's
/// dtype (OutputDType). An empty array gives what NumPy gives: 0 (false) for sums, 1 for products.
///
/// Requires: `partial` is of `op` and `input`, or is empty and default; not empty for a minimum or
///   maximum.
void Finish(const OpInfo& op, DType input, const ReducePartial& partial, void* output);

/// The value of an array that lies in one piece: the bits of ReduceRange and Finish, without
/// allocating. Requires first_index == 0.
void ReduceAll(const OpInfo& op, const ReduceArgs& args, void* output);

}  // namespace shoal::kernels::cpu
