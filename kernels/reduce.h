#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/dtype.h"

namespace shoal::kernels {

struct OpInfo;

/// The canonical reduction tree: the same bits whatever the number of shards and threads.
///
/// Terms are numbered by their global element index. A leaf is 4096 consecutive terms: 32 strided
/// accumulators, lane j taking terms j, j + 32, ... in order, halved pairwise at the end (lane j
/// takes lane j + 16, then j + 8, ... j + 1). Lanes of an incomplete leaf that have no term hold
/// the identity (-0.0 for floats). Above the leaves stands a binary tree over the leaf number; a
/// missing right child passes the left one through. A leaf or node that is NaN is the canonical
/// quiet NaN (positive, no payload), so that not even NaNs depend on the cuts. (Source: the
/// project's own measurements; docs/decisions/0004.)
inline constexpr int64_t kLeafElements = 4096;
inline constexpr int kLeafLanes = 32;

/// The row tree: the same for each column of rows, where the terms of one result do not lie side by
/// side. A leaf is 8 consecutive rows, added in order; above stands the same binary tree, over
/// whole columns. (Leaves are short because at a cut what a leaf has on either side travels raw.)
inline constexpr int64_t kLeafRows = 8;

/// Elements in C order as `blocks` blocks of `rows` rows of `columns` elements. A fold goes over
/// the rows: it has a result for each block and column, in that order. Of one column it is the
/// canonical tree of the block's terms, of several the row tree.
struct FoldShape {
  int64_t blocks = 1;
  int64_t rows = 0;
  int64_t columns = 1;

  int64_t result_count() const { return blocks * columns; }
  int64_t block_elements() const { return rows * columns; }
  friend bool operator==(const FoldShape&, const FoldShape&) = default;
  template <class H>
  friend H AbslHashValue(H state, const FoldShape& shape) {
    return H::combine(std::move(state), shape.blocks, shape.rows, shape.columns);
  }
};

/// One contiguous piece of the input of a reduction.
struct ReduceArgs {
  DType dtype = DType::kFloat32;
  std::array<const void*, 2> inputs = {};  ///< The second is used by two-input ops only.
  int64_t first_index = 0;                 ///< Global index of the first element.
  int64_t count = 0;                       ///< 0 is allowed: the inputs may then be null.
};

/// What a contiguous range of terms contributes: closed under joining with its neighbour.
///
/// Terms are elements of the accumulator's dtype. `head` holds the raw terms before the first leaf
/// boundary of the range, `tail` those after the last one; a range that ends inside its first leaf
/// has only a head. Between them, the values of the maximal complete subtrees, left to right. At
/// most 2 * 4095 terms and 2 * 51 nodes, whatever the range. One range has one partial: it is the
/// same, field by field, however it was put together.
struct ReducePartial {
  struct Node {
    int32_t level = 0;                     ///< Covers 2^level leaves.
    int64_t index = 0;                     ///< The leaves [index << level, (index + 1) << level).
    std::array<std::byte, 16> value = {};  ///< One element of the accumulator's dtype, then zeros.
    bool operator==(const Node&) const = default;
  };
  const OpInfo* op = nullptr;     ///< Element of AllOps(); null only in an empty, default one.
  DType input = DType::kFloat32;  ///< Dtype of the op's inputs.
  DType accumulator = DType::kFloat32;  ///< float16 and bfloat16 accumulate in float32.
  int64_t begin = 0;                    ///< Global range of terms [begin, end).
  int64_t end = 0;
  std::vector<std::byte> head;
  std::vector<Node> nodes;
  std::vector<std::byte> tail;
  bool operator==(const ReducePartial&) const = default;
};

/// What rows [begin, end) of a block of several columns contribute: terms before the first and
/// after the last boundary of leaves, and the values of the maximal complete subtrees between them.
/// For all columns side by side; parts of them may be filled in by different threads.
struct RowPartial {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t row_bytes = 0;                ///< Of an accumulator for each column.
  std::unique_ptr<std::byte[]> values;  ///< Rows of accumulators: head, subtrees, tail.

  std::byte* At(int64_t row, int64_t offset) const {
    return values.get() + row * row_bytes + offset;
  }
};

}  // namespace shoal::kernels
