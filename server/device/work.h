#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "kernels/map.h"
#include "kernels/reduce.h"
#include "kernels/registry.h"
#include "kernels/sort.h"
#include "server/device/span.h"

namespace shoal::device {

// What a device can be asked to compute. Pointers inside the arguments are device memory, borrowed
// until the launch is done. The arguments are valid in the sense of kernels/ (checked there).

/// An elementwise function over one contiguous piece. What the arguments' spans show is borrowed
/// until the launch is done, as the kernel is.
struct MapWork {
  const kernels::MapKernel* kernel = nullptr;
  kernels::MapArgs args;
};

/// Takes elements through a kernel that changes none of them. Owns what its work borrows.
class PassThrough {
 public:
  PassThrough() = default;
  PassThrough(kernels::DType dtype, const void* from, void* to)
      : kernel_(kernels::IdentityKernel(dtype)), to_(to) {
    from_.data = from;
  }

  /// Of the first `count` elements. Borrows this, which stays where it is.
  MapWork Work(int64_t count) const {
    kernels::MapArgs args;
    args.inputs = {&from_, 1};
    args.outputs = {&to_, 1};
    args.count = count;
    return {.kernel = &kernel_, .args = args};
  }

 private:
  kernels::MapKernel kernel_;
  kernels::MapInput from_;
  void* to_ = nullptr;
};

/// One piece of a reduction, folded up to what the canonical tree leaves open.
struct ReduceWork {
  const kernels::OpInfo* op = nullptr;  ///< Of form kReduce.
  /// Makes the op's inputs, of one dtype; its outputs have no memory. Borrowed as above.
  const kernels::MapKernel* kernel = nullptr;
  kernels::MapArgs args;
  kernels::ReducePartial* out = nullptr;  ///< Host memory; filled once done with OK.
};

/// Whole blocks folded over their rows.
struct FoldWork {
  const kernels::OpInfo* op = nullptr;  ///< Of form kReduce, with one input.
  /// Makes its terms, of all blocks, in order. Borrowed as above.
  const kernels::MapKernel* kernel = nullptr;
  kernels::MapArgs args;
  kernels::FoldShape shape;
  void* out = nullptr;  ///< Device memory for the results, in the output's dtype.
};

/// Some rows of a block of several columns, folded up to what the row tree leaves open.
struct FoldRowsWork {
  const kernels::OpInfo* op = nullptr;
  const kernels::MapKernel* kernel = nullptr;
  kernels::MapArgs args;
  int64_t first_row = 0;  ///< In the block, of the args' first element.
  int64_t columns = 0;
  /// Host memory; filled once done with OK: partials of these rows, in order.
  std::vector<kernels::RowPartial>* out = nullptr;
};

/// Results of columns [first_column, first_column + column_count) from partials of all rows.
struct FinishRowsWork {
  const kernels::OpInfo* op = nullptr;
  kernels::DType dtype = kernels::DType::kFloat32;  ///< Of the op's input.
  std::span<const kernels::RowPartial> partials;    ///< Host memory.
  int64_t first_column = 0;
  int64_t column_count = 0;
  void* out = nullptr;
};

/// Rows sorted in place.
struct SortWork {
  const kernels::OpInfo* op = nullptr;  ///< Of form kSort.
  kernels::SortArgs args;
};

/// Elements of sorted runs taken together: those with the ranks from `first_rank` on, as many as
/// the output has.
struct MergeWork {
  const kernels::OpInfo* op = nullptr;  ///< Of form kSort: the order that the runs are in.
  kernels::DType dtype = kernels::DType::kFloat32;
  std::vector<ConstSpan> runs;  ///< Each sorted, in whole elements; may be empty.
  int64_t first_rank = 0;
  Span output;  ///< Whole elements; overlaps no run.
};

using Work =
    std::variant<MapWork, ReduceWork, FoldWork, FoldRowsWork, FinishRowsWork, SortWork, MergeWork>;

/// Raised by the owner of a task to stop it between chunks; null: cannot be stopped. Must stay
/// alive until the work is done.
using CancelFlag = const std::atomic<bool>*;

}  // namespace shoal::device
