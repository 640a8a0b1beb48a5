#include "kernels/cpu/fold_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/reduce.h"
#include "tests/kernels/cpu/arrays.h"
#include "tests/support/one_op.h"

namespace shoal::kernels::cpu {
namespace {

constexpr const char* kFolds[] = {"sum", "prod", "min", "max"};

/// Joins two elements of the accumulator's dtype with the elementwise op that the fold repeats.
class Joiner {
 public:
  Joiner(const OpInfo& fold, DType accumulator)
      : op_(*FindOp(fold.name == "sum"    ? "add"
                    : fold.name == "prod" ? "multiply"
                    : fold.name == "min"  ? "minimum"
                                          : "maximum")),
        dtype_(accumulator) {}

  Bytes operator()(const Bytes& left, const Bytes& right) const {
    Bytes out(left.size());
    const support::OneKernel one =
        support::OneOp({op_, dtype_}, {left.data(), right.data()}, {out.data(), 1});
    RunMap(one.kernel, one.args(), {0, 1});
    return out;
  }

 private:
  const OpInfo& op_;
  const DType dtype_;
};

Bytes Converted(const Bytes& elements, DType from, DType to) {
  const int64_t count = static_cast<int64_t>(elements.size()) / ItemBytes(from);
  Bytes out(static_cast<size_t>(count * ItemBytes(to)));
  support::OneKernel one;
  one.kernel.inputs = {from};
  one.kernel.steps = {{.op = nullptr, .dtype = from, .result = to, .operands = {0, 0, 0}}};
  one.kernel.outputs = {one.kernel.StepValue(0)};
  one.inputs = {{.data = elements.data(), .axes = {}, .single = false}};
  one.outputs = {out.data()};
  RunMap(one.kernel, one.args(), {0, count});
  return out;
}

DType AccumulatorOf(const OpInfo& fold, DType dtype) {
  const DType output = OutputDType(fold, dtype);
  return IsHalf(output) ? DType::kFloat32 : output;
}

/// The row tree over terms, as its definition has it: halves of the leaves, the left one the
/// largest power of two that leaves a right one.
Bytes RowTree(const Joiner& join, const std::vector<Bytes>& terms, size_t begin, size_t end) {
  const size_t rows = end - begin;
  if (rows <= static_cast<size_t>(kLeafRows)) {
    Bytes value = terms[begin];
    for (size_t i = begin + 1; i < end; ++i) value = join(value, terms[i]);
    return value;
  }
  size_t left = static_cast<size_t>(kLeafRows);
  while (2 * left < rows) left *= 2;
  return join(RowTree(join, terms, begin, begin + left), RowTree(join, terms, begin + left, end));
}

/// One column of a block, folded by definition.
Bytes ColumnOf(const OpInfo& fold, DType dtype, const Bytes& array, FoldShape shape, int64_t block,
               int64_t column) {
  const DType accumulator = AccumulatorOf(fold, dtype);
  const int64_t item = ItemBytes(dtype);
  std::vector<Bytes> terms;
  for (int64_t row = 0; row < shape.rows; ++row) {
    const int64_t at = (block * shape.block_elements() + row * shape.columns + column) * item;
    const Bytes element(array.begin() + at, array.begin() + at + item);
    terms.push_back(Converted(element, dtype, accumulator));
  }
  const Bytes value = RowTree(Joiner(fold, accumulator), terms, 0, terms.size());
  return Converted(value, accumulator, OutputDType(fold, dtype));
}

Bytes Folded(const OpInfo& fold, const support::OneKernel& one, FoldShape shape) {
  const DType input = one.kernel.OutputDType(0);
  Bytes out(static_cast<size_t>(shape.result_count() * ItemBytes(OutputDType(fold, input))));
  FoldBlocks(fold, one.kernel, one.args(), shape, {0, shape.blocks}, out.data());
  return out;
}

support::OneKernel Identity(DType dtype, const Bytes& array) {
  support::OneKernel one;
  one.kernel = IdentityKernel(dtype);
  one.inputs = {{.data = array.data(), .axes = {}, .single = false}};
  one.count = static_cast<int64_t>(array.size()) / ItemBytes(dtype);
  return one;
}

template <class Body>
void ForEachFold(Body body) {
  for (const char* name : kFolds) {
    const OpInfo& fold = *FindOp(name);
    for (const DType dtype : kAllDTypes) {
      if (fold.Supports(dtype)) body(fold, dtype);
    }
  }
}

Bytes ArrayOf(DType dtype, FoldShape shape, uint64_t seed) {
  return RandomArray(dtype, shape.blocks * shape.block_elements(), Fill::kAwkward, seed);
}

TEST(FoldBlocksTest, ColumnsAreFoldedByTheRowTree) {
  for (const FoldShape shape :
       {FoldShape{1, 1, 3}, {2, 7, 2}, {3, 8, 5}, {1, 77, 4}, {2, 130, 3}}) {
    ForEachFold([&](const OpInfo& fold, DType dtype) {
      const Bytes array = ArrayOf(dtype, shape, 1);
      const Bytes seen = Folded(fold, Identity(dtype, array), shape);
      Bytes expected;
      for (int64_t block = 0; block < shape.blocks; ++block) {
        for (int64_t column = 0; column < shape.columns; ++column) {
          const Bytes value = ColumnOf(fold, dtype, array, shape, block, column);
          expected.insert(expected.end(), value.begin(), value.end());
        }
      }
      EXPECT_TRUE(seen == expected) << fold.name << " of " << Name(dtype) << ", " << shape.rows;
    });
  }
}

// One column: the bits of a sum of that block alone.
TEST(FoldBlocksTest, BlocksOfOneColumnAreFoldedByTheCanonicalTree) {
  for (const FoldShape shape : {FoldShape{5, 3, 1}, {3, 5000, 1}, {2, 70'001, 1}}) {
    ForEachFold([&](const OpInfo& fold, DType dtype) {
      const Bytes array = ArrayOf(dtype, shape, 2);
      const Bytes seen = Folded(fold, Identity(dtype, array), shape);
      Bytes expected(seen.size());
      for (int64_t block = 0; block < shape.blocks; ++block) {
        const int64_t output = ItemBytes(OutputDType(fold, dtype));
        ReduceAll(
            fold,
            {dtype, {array.data() + block * shape.rows * ItemBytes(dtype), nullptr}, 0, shape.rows},
            expected.data() + block * output);
      }
      EXPECT_TRUE(seen == expected) << fold.name << " of " << Name(dtype) << ", " << shape.rows;
    });
  }
}

TEST(FoldBlocksTest, WithoutRowsSumsAreZeroAndProductsOne) {
  for (const auto& [name, value] : {std::pair{"sum", 0.0}, {"prod", 1.0}}) {
    const Bytes none;
    const Bytes seen = Folded(*FindOp(name), Identity(DType::kFloat64, none), {2, 0, 2});
    const std::vector<double> expected(4, value);
    EXPECT_EQ(std::memcmp(seen.data(), expected.data(), seen.size()), 0) << name;
  }
}

/// x * row, of the shape's elements: a kernel that computes, with an input that is broadcast.
struct Product {
  Product(DType dtype, FoldShape shape)
      : x(ArrayOf(dtype, shape, 3)),
        row(RandomArray(dtype, shape.columns, Fill::kAwkward, 4)),
        axes({{shape.blocks * shape.rows, 0}, {shape.columns, 1}}),
        made(x.size()) {
    one = support::OneOp({*FindOp("multiply"), dtype}, {x.data(), row.data()},
                         {made.data(), shape.blocks * shape.block_elements()});
    one.inputs[1].axes = axes;
    RunMap(one.kernel, one.args(), {0, one.count});
    one.outputs.clear();
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  Bytes x;
  Bytes row;
  std::vector<BroadcastAxis> axes;
  Bytes made;
  support::OneKernel one;
};

TEST(FoldBlocksTest, FoldsWhatAKernelMakesAsIfItHadBeenAnArray) {
  // Columns in one tile and in two, blocks that fit the buffer and that do not.
  for (const FoldShape shape :
       {FoldShape{3, 50, 7}, {2, 21, 1500}, {40, 30, 1}, {2, 70'000, 1}, {1, 200, 1100}}) {
    for (const DType dtype : {DType::kFloat32, DType::kInt16, DType::kBfloat16}) {
      const Product product(dtype, shape);
      EXPECT_TRUE(Folded(*FindOp("sum"), product.one, shape) ==
                  Folded(*FindOp("sum"), Identity(dtype, product.made), shape))
          << Name(dtype) << ", " << shape.rows << " x " << shape.columns;
    }
  }
}

/// The rows [cuts[i], cuts[i + 1]) as partials, the columns of each filled in by halves.
std::vector<RowPartial> Partials(const OpInfo& fold, const Product& product, FoldShape shape,
                                 const std::vector<int64_t>& cuts) {
  const DType dtype = product.one.kernel.OutputDType(0);
  std::vector<RowPartial> partials;
  for (size_t i = 1; i < cuts.size(); ++i) {
    RowPartial partial = NewRowPartial(fold, dtype, {cuts[i - 1], cuts[i]}, shape.columns);
    const int64_t middle = shape.columns / 3;
    for (const MapRange part : {MapRange{0, middle}, {middle, shape.columns}}) {
      FoldRows(fold, product.one.kernel, product.one.args(), cuts[i - 1], shape.columns, part,
               partial);
    }
    partials.push_back(std::move(partial));
  }
  return partials;
}

TEST(FoldRowsTest, AnyCutOfTheRowsGivesTheBitsOfTheWholeBlock) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    const FoldShape shape = {1, 1 + static_cast<int64_t>(random() % 600),
                             2 + static_cast<int64_t>(random() % (round % 9 == 0 ? 1500 : 20))};
    const DType dtype = kAllDTypes[random() % kAllDTypes.size()];
    const OpInfo& fold = *FindOp(kFolds[random() % 4]);
    if (!fold.Supports(dtype)) continue;
    const Product product(dtype, shape);
    std::vector<int64_t> cuts = {0, shape.rows};
    for (size_t i = random() % 6; i > 0; --i) {
      cuts.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(shape.rows + 1)));
    }
    std::ranges::sort(cuts);
    const Bytes whole = Folded(fold, product.one, shape);
    const std::vector<RowPartial> partials = Partials(fold, product, shape, cuts);
    Bytes seen(whole.size());
    const int64_t item = ItemBytes(OutputDType(fold, dtype));
    const auto column = static_cast<int64_t>(random() % static_cast<uint64_t>(shape.columns));
    FinishRows(fold, dtype, partials, {0, column}, seen.data());
    FinishRows(fold, dtype, partials, {column, shape.columns}, seen.data() + column * item);
    EXPECT_TRUE(seen == whole) << fold.name << " of " << Name(dtype) << ", " << shape.rows << " x "
                               << shape.columns << " in " << cuts.size() - 1;
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
