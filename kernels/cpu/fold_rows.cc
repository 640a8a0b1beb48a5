#include "kernels/cpu/fold_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "kernels/cpu/op_code.h"
#include "kernels/cpu/reduce.h"
#include "kernels/cpu/term_buffer.h"

namespace shoal::kernels::cpu {
namespace {

// A tile's accumulators stay in the first cache, its whole stack in the second. At most what
// ReduceCode::rows takes.
constexpr int64_t kTileColumns = 1024;

int BitWidth(int64_t n) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(n))); }

/// A complete subtree of the row tree: the leaves [index << level, (index + 1) << level).
struct Subtree {
  int32_t level = 0;
  int64_t index = 0;
};

/// A range of rows as the tree sees it.
struct RowRange {
  explicit RowRange(MapRange rows) {
    const int64_t first_leaf = (rows.begin + kLeafRows - 1) / kLeafRows;
    const int64_t last_leaf = rows.end / kLeafRows;
    if (first_leaf > last_leaf) {  // Inside of one leaf.
      head = rows.end - rows.begin;
      return;
    }
    head = first_leaf * kLeafRows - rows.begin;
    tail = rows.end - last_leaf * kLeafRows;
    for (int64_t leaf = first_leaf; leaf < last_leaf;) {
      const int aligned = leaf == 0 ? 62 : std::countr_zero(static_cast<uint64_t>(leaf));
      const int fitting = BitWidth(last_leaf - leaf) - 1;
      const int level = std::min(aligned, fitting);
      subtrees.push_back({level, leaf >> level});
      leaf += int64_t{1} << level;
    }
  }

  int64_t row_count() const { return head + static_cast<int64_t>(subtrees.size()) + tail; }

  int64_t head = 0;  ///< Rows before the first boundary, or all where there is none.
  std::vector<Subtree> subtrees;
  int64_t tail = 0;
};

const ReduceCode& CodeOf(const OpInfo& op, DType dtype) {
  SHOAL_CHECK(op.form == OpForm::kReduce && op.inputs_max == 1 && op.Supports(dtype));
  return (*FindReduceCode(IndexOf(op)))[static_cast<size_t>(dtype)];
}

/// Rows of a kernel's output, for a tile of the columns.
class RowSource {
 public:
  RowSource(const MapKernel& kernel, const MapArgs& args, int64_t columns, MapRange tile)
      : kernel_(kernel),
        args_(args),
        columns_(columns),
        tile_(tile),
        dtype_(kernel.OutputDType(0)),
        plain_(PassesOn(kernel, args)) {}

  int64_t width() const { return tile_.end - tile_.begin; }
  int64_t item_bytes() const { return ItemBytes(dtype_); }
  /// Elements between rows.
  int64_t stride() const { return plain_ ? columns_ : width(); }
  /// How many rows may be asked for at once.
  int64_t RowsMax() const {
    return plain_ ? INT64_MAX : kTermBufferElements / width() / kLeafRows * kLeafRows;
  }

  /// Rows from `row` on; valid until the next call.
  const std::byte* Rows(int64_t row, int64_t count) {
    const int64_t first = row * columns_ + tile_.begin;
    if (plain_) {
      const MapInput& input = args_.inputs[static_cast<size_t>(kernel_.outputs[0])];
      return static_cast<const std::byte*>(input.data) + first * ItemBytes(dtype_);
    }
    auto* const buffer = static_cast<std::byte*>(TermBuffersOfThread()[0]);
    if (width() == columns_) {
      Make({first, first + count * columns_}, buffer);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t begin = first + i * columns_;
        Make({begin, begin + width()}, buffer + i * width() * ItemBytes(dtype_));
      }
    }
    return buffer;
  }

 private:
  void Make(MapRange range, void* to) const {
    void* const output = OutputBegin(to, range.begin, dtype_);
    MapArgs part = args_;
    part.outputs = {&output, 1};
    RunMap(kernel_, part, range);
  }

  const MapKernel& kernel_;
  const MapArgs& args_;
  const int64_t columns_;
  const MapRange tile_;
  const DType dtype_;
  const bool plain_;
};

/// Subtrees of a tile, left to right, complete pairs of siblings joined: a row of accumulators
/// each.
class RowStack {
 public:
  /// For ranges of at most `rows` rows.
  RowStack(const ReduceCode& code, int64_t rows, int64_t width)
      : code_(code), width_(width), row_bytes_(width * ItemBytes(code.accumulator)) {
    // Ascending levels, then descending ones, and one more row.
    const int64_t depth = 2 * BitWidth(rows / kLeafRows) + 2;
    values_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(depth * row_bytes_));
  }

  /// Where the next subtree's values go, before Push.
  std::byte* top() { return Row(subtrees_.size()); }

  void Push(Subtree subtree) {
    while (!subtrees_.empty() && subtrees_.back().level == subtree.level &&
           subtree.index % 2 == 1) {
      subtrees_.pop_back();  // Its values stay, and are the new top.
      code_.join(top(), Row(subtrees_.size() + 1), width_);
      subtree = {subtree.level + 1, subtree.index / 2};
    }
    subtrees_.push_back(subtree);
  }

  size_t size() const { return subtrees_.size(); }
  const std::byte* row(size_t i) { return Row(i); }
  int64_t row_bytes() const { return row_bytes_; }

  /// The values of the root over all, and what lies in `top` where that is an incomplete leaf: a
  /// missing right child passes the left one through, so they are joined from the right.
  const std::byte* Root(bool with_top) {
    for (size_t i = subtrees_.size() + (with_top ? 1 : 0); i > 1; --i) {
      code_.join(Row(i - 2), Row(i - 1), width_);
    }
    return Row(0);
  }

  void Clear() { subtrees_.clear(); }

 private:
  std::byte* Row(size_t i) { return values_.get() + static_cast<int64_t>(i) * row_bytes_; }

  const ReduceCode& code_;
  const int64_t width_;
  const int64_t row_bytes_;
  std::unique_ptr<std::byte[]> values_;
  std::vector<Subtree> subtrees_;
};

/// Pushes the leaves [first, last) onto the stack; row `first_row` of the source begins the first.
void PushLeaves(const ReduceCode& code, RowSource& source, int64_t first_row, MapRange leaves,
                RowStack& stack) {
  const int64_t batch = source.RowsMax() / kLeafRows;
  for (int64_t leaf = leaves.begin; leaf < leaves.end;) {
    const int64_t end = leaves.end - leaf > batch ? leaf + batch : leaves.end;
    const int64_t row = first_row + (leaf - leaves.begin) * kLeafRows;
    const std::byte* rows = source.Rows(row, (end - leaf) * kLeafRows);
    for (; leaf < end; ++leaf) {
      code.rows(rows, source.stride(), kLeafRows, source.width(), stack.top());
      stack.Push({0, leaf});
      rows += kLeafRows * source.stride() * source.item_bytes();
    }
  }
}

template <class Use>
void ForTiles(MapRange columns, Use use) {
  for (int64_t begin = columns.begin; begin < columns.end; begin += kTileColumns) {
    use(MapRange{begin, std::min(begin + kTileColumns, columns.end)});
  }
}

std::byte* Advance(void* data, int64_t elements, DType dtype) {
  return static_cast<std::byte*>(data) + elements * ItemBytes(dtype);
}

/// The blocks as they lie behind one another, one at a time.
void FoldBlocksOfRows(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                      FoldShape shape, MapRange blocks, void* outputs) {
  const DType input = kernel.OutputDType(0);
  const ReduceCode& code = CodeOf(op, input);
  const int64_t leaves = shape.rows / kLeafRows;
  const int64_t rest = shape.rows % kLeafRows;
  ForTiles({0, shape.columns}, [&](MapRange tile) {
    RowSource source(kernel, args, shape.columns, tile);
    RowStack stack(code, shape.rows, source.width());
    for (int64_t block = blocks.begin; block < blocks.end; ++block) {
      const int64_t first_row = block * shape.rows;
      stack.Clear();
      PushLeaves(code, source, first_row, {0, leaves}, stack);
      if (rest > 0) {
        const std::byte* rows = source.Rows(first_row + leaves * kLeafRows, rest);
        code.rows(rows, source.stride(), rest, source.width(), stack.top());
      }
      const int64_t result = (block - blocks.begin) * shape.columns + tile.begin;
      code.finish(stack.Root(rest > 0), Advance(outputs, result, OutputDType(op, input)),
                  source.width());
    }
  });
}

/// Blocks of one column: each has a canonical tree of its own.
void FoldBlocksOfTerms(const OpInfo& op, const MapKernel& kernel, const MapArgs& args,
                       int64_t terms, MapRange blocks, void* outputs) {
  const DType input = kernel.OutputDType(0);
  const DType output = OutputDType(op, input);
  RowSource source(kernel, args, 1, {0, 1});
  // As many whole blocks as can be had at once; longer ones by themselves.
  const int64_t batch = std::max(source.RowsMax() / std::max(terms, int64_t{1}), int64_t{1});
  for (int64_t block = blocks.begin; block < blocks.end;) {
    const int64_t end = blocks.end - block > batch ? block + batch : blocks.end;
    std::byte* result = Advance(outputs, block - blocks.begin, output);
    if (terms > source.RowsMax()) {
      const MapRange range = {block * terms, (block + 1) * terms};
      Finish(op, input, ReduceRange(op, kernel, args, range, 0), result);
      ++block;
      continue;
    }
    const std::byte* data = source.Rows(block * terms, (end - block) * terms);
    for (; block < end; ++block, result += ItemBytes(output)) {
      ReduceAll(op, {input, {data, nullptr}, 0, terms}, result);
      data += terms * ItemBytes(input);
    }
  }
}

/// The results of blocks without rows.
void FillWithNone(const OpInfo& op, DType input, int64_t count, void* outputs) {
  for (int64_t i = 0; i < count; ++i) {
    Finish(op, input, ReducePartial{}, Advance(outputs, i, OutputDType(op, input)));
  }
}

}  // namespace

void FoldBlocks(const OpInfo& op, const MapKernel& kernel, const MapArgs& args, FoldShape shape,
                MapRange blocks, void* outputs) {
  if (shape.rows == 0) {
    const int64_t count = (blocks.end - blocks.begin) * shape.columns;
    FillWithNone(op, kernel.OutputDType(0), count, outputs);
  } else if (shape.columns == 1) {
    FoldBlocksOfTerms(op, kernel, args, shape.rows, blocks, outputs);
  } else {
    FoldBlocksOfRows(op, kernel, args, shape, blocks, outputs);
  }
}

RowPartial NewRowPartial(const OpInfo& op, DType input, MapRange rows, int64_t columns) {
  const int64_t bytes = RowPartialBytes(op, input, rows, columns);
  return {.begin = rows.begin,
          .end = rows.end,
          .row_bytes = columns * ItemBytes(CodeOf(op, input).accumulator),
          .values = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes))};
}

int64_t RowPartialBytes(const OpInfo& op, DType input, MapRange rows, int64_t columns) {
  return RowRange(rows).row_count() * columns * ItemBytes(CodeOf(op, input).accumulator);
}

void FoldRows(const OpInfo& op, const MapKernel& kernel, const MapArgs& args, int64_t first_row,
              int64_t columns, MapRange part, RowPartial& partial) {
  const ReduceCode& code = CodeOf(op, kernel.OutputDType(0));
  const int64_t item = ItemBytes(code.accumulator);
  const MapRange rows = {partial.begin, partial.end};
  const RowRange range(rows);
  const int64_t first_leaf = (rows.begin + range.head) / kLeafRows;
  const int64_t leaf_rows = rows.end - rows.begin - range.head - range.tail;
  ForTiles(part, [&](MapRange tile) {
    RowSource source(kernel, args, columns, tile);
    RowStack stack(code, leaf_rows, source.width());
    int64_t to = 0;
    const auto add_terms = [&](int64_t first, int64_t count) {
      for (int64_t i = 0; i < count; ++i, ++to) {
        code.terms({source.Rows(first_row + first + i, 1), nullptr}, source.width(),
                   partial.At(to, tile.begin * item));
      }
    };
    add_terms(0, range.head);
    PushLeaves(code, source, first_row + range.head,
               {first_leaf, first_leaf + leaf_rows / kLeafRows}, stack);
    SHOAL_CHECK(stack.size() == range.subtrees.size());
    for (size_t i = 0; i < stack.size(); ++i, ++to) {
      std::memcpy(partial.At(to, tile.begin * item), stack.row(i),
                  static_cast<size_t>(stack.row_bytes()));
    }
    add_terms(range.head + leaf_rows, range.tail);
  });
}

namespace {

/// Puts partials together for a tile of columns.
class RowJoiner {
 public:
  RowJoiner(const ReduceCode& code, int64_t rows, MapRange tile)
      : code_(code), tile_(tile), stack_(code, rows, tile.end - tile.begin) {}

  void Append(const RowPartial& partial) {
    const RowRange range({partial.begin, partial.end});
    const int64_t offset = tile_.begin * ItemBytes(code_.accumulator);
    int64_t from = 0;
    const auto at = [&] { return partial.At(from++, offset); };
    for (int64_t i = 0; i < range.head; ++i) AppendTerm(at());
    for (const Subtree& subtree : range.subtrees) {
      std::memcpy(stack_.top(), at(), static_cast<size_t>(stack_.row_bytes()));
      stack_.Push(subtree);
      leaves_ = (subtree.index + 1) << subtree.level;
    }
    for (int64_t i = 0; i < range.tail; ++i) AppendTerm(at());
  }

  const std::byte* Root() { return stack_.Root(open_rows_ > 0); }

 private:
  // The terms of an open leaf are added where its values will be needed.
  void AppendTerm(const std::byte* terms) {
    if (open_rows_ == 0) {
      std::memcpy(stack_.top(), terms, static_cast<size_t>(stack_.row_bytes()));
    } else {
      code_.join(stack_.top(), terms, tile_.end - tile_.begin);
    }
    if (++open_rows_ < kLeafRows) return;
    open_rows_ = 0;
    stack_.Push({0, leaves_++});
  }

  const ReduceCode& code_;
  const MapRange tile_;
  RowStack stack_;
  int64_t open_rows_ = 0;
  int64_t leaves_ = 0;  // Complete ones so far.
};

}  // namespace

void FinishRows(const OpInfo& op, DType input, std::span<const RowPartial> partials,
                MapRange columns, void* outputs) {
  const ReduceCode& code = CodeOf(op, input);
  SHOAL_CHECK(!partials.empty() && partials.front().begin == 0);
  ForTiles(columns, [&](MapRange tile) {
    RowJoiner joiner(code, partials.back().end, tile);
    for (const RowPartial& partial : partials) joiner.Append(partial);
    code.finish(joiner.Root(), Advance(outputs, tile.begin - columns.begin, OutputDType(op, input)),
                tile.end - tile.begin);
  });
}

}  // namespace shoal::kernels::cpu
