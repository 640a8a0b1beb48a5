#include "kernels/cpu/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/cpu/arrays.h"

namespace shoal::kernels::cpu {
namespace {

/// Those that add or multiply: of the others the order does not matter (fold_extremes_test.cc).
template <class Body>
void ForEachReduction(Body body) {
  for (const char* name : {"sum", "prod", "dot"}) {
    const OpInfo& op = *FindOp(name);
    for (const DType dtype : kAllDTypes) {
      // A complex product has no parts that could be folded alone; fold_rows_test.cc has it.
      if (op.name == "prod" && IsComplex(dtype)) continue;
      if (op.Supports(dtype)) body(op, dtype);
    }
  }
}

Bytes Reduce(const OpInfo& op, DType dtype, const Bytes& x, const Bytes& y) {
  const DType output = OutputDType(op, dtype);
  Bytes direct(static_cast<size_t>(ItemBytes(output)));
  const auto count = static_cast<int64_t>(x.size()) / ItemBytes(dtype);
  const ReduceArgs args = {dtype, {x.data(), y.data()}, 0, count};
  ReduceAll(op, args, direct.data());
  Bytes finished(direct.size());
  Finish(op, dtype, ReduceRange(op, args), finished.data());
  EXPECT_TRUE(finished == direct) << op.name << " " << Name(dtype) << " x" << count;
  return direct;
}

struct Adding {
  template <class T>
  static T Join(T x, T y) {
    return x + y;
  }
  static constexpr double kIdentity = -0.0;
};
struct Multiplying {
  template <class T>
  static T Join(T x, T y) {
    return x * y;
  }
  static constexpr double kIdentity = 1.0;
};

/// The canonical tree, word for word from kernels/reduce.h, in plain recursion over terms.
template <class Fold, class T>
T NaiveLeaf(const T* terms, int64_t count) {
  std::array<T, kLeafLanes> lanes;
  lanes.fill(static_cast<T>(Fold::kIdentity));
  for (int64_t i = 0; i < count; ++i) {
    T& lane = lanes[static_cast<size_t>(i % kLeafLanes)];
    lane = Fold::Join(lane, terms[i]);
  }
  for (size_t width = kLeafLanes / 2; width > 0; width /= 2) {
    for (size_t j = 0; j < width; ++j) lanes[j] = Fold::Join(lanes[j], lanes[j + width]);
  }
  return lanes[0];
}

template <class Fold, class T>
T NaiveTree(const std::vector<T>& terms, int64_t level, int64_t index) {
  const auto size = static_cast<int64_t>(terms.size());
  const int64_t begin = (index << level) * kLeafElements;
  if (level == 0)
    return NaiveLeaf<Fold>(terms.data() + begin, std::min(kLeafElements, size - begin));
  const T left = NaiveTree<Fold>(terms, level - 1, 2 * index);
  const int64_t right_begin = ((2 * index + 1) << (level - 1)) * kLeafElements;
  if (right_begin >= size) return left;
  return Fold::Join(left, NaiveTree<Fold>(terms, level - 1, 2 * index + 1));
}

template <class T>
T NaiveSum(const std::vector<T>& terms) {
  return terms.empty() ? T{0} : NaiveTree<Adding>(terms, 40, 0);
}
template <class T>
T NaiveProduct(const std::vector<T>& terms) {
  return terms.empty() ? T{1} : NaiveTree<Multiplying>(terms, 40, 0);
}

template <class T>
Bytes NaiveFloatReduction(const OpInfo& op, DType dtype, const Bytes& x, const Bytes& y) {
  std::vector<T> terms;
  const auto item = static_cast<size_t>(ItemBytes(dtype));
  for (size_t at = 0; at < x.size(); at += item) {
    const auto u = static_cast<T>(LoadFloat(dtype, x.data() + at));
    const auto v = static_cast<T>(LoadFloat(dtype, y.data() + at));
    terms.push_back(op.name == "dot" ? u * v : u);
  }
  Bytes out(item);
  const T value = op.name == "prod" ? NaiveProduct(terms) : NaiveSum(terms);
  StoreFloat(dtype, out.data(), double{value});
  return out;
}

template <class T>
Bytes NaiveComplexReduction(const OpInfo& op, const Bytes& x, const Bytes& y) {
  std::vector<T> re;
  std::vector<T> im;
  for (size_t at = 0; at < x.size(); at += 2 * sizeof(T)) {
    const T xr = Load<T>(x.data() + at);
    const T xi = Load<T>(x.data() + at + sizeof(T));
    const T yr = Load<T>(y.data() + at);
    const T yi = Load<T>(y.data() + at + sizeof(T));
    const volatile T p = xr * yr;
    const volatile T q = xi * yi;
    const volatile T r = xr * yi;
    const volatile T s = xi * yr;
    re.push_back(op.name == "dot" ? p - q : xr);
    im.push_back(op.name == "dot" ? r + s : xi);
  }
  const DType part = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  Bytes out(2 * sizeof(T));
  StoreFloat(part, out.data(), double{NaiveSum(re)});
  StoreFloat(part, out.data() + sizeof(T), double{NaiveSum(im)});
  return out;
}

Bytes NaiveIntegerReduction(const OpInfo& op, DType dtype, const Bytes& x, const Bytes& y) {
  uint64_t sum = op.name == "prod" ? 1 : 0;
  const auto item = static_cast<size_t>(ItemBytes(dtype));
  for (size_t at = 0; at < x.size(); at += item) {
    const uint64_t u = LoadInteger(dtype, x.data() + at);
    if (op.name == "prod") {
      sum *= u;
      continue;
    }
    sum += op.name == "dot" ? u * LoadInteger(dtype, y.data() + at) : u;
  }
  const DType output = OutputDType(op, dtype);
  Bytes out(static_cast<size_t>(ItemBytes(output)));
  StoreInteger(output, out.data(), sum);
  return out;
}

Bytes NaiveReduction(const OpInfo& op, DType dtype, const Bytes& x, const Bytes& y) {
  if (dtype == DType::kComplex64) return NaiveComplexReduction<float>(op, x, y);
  if (dtype == DType::kComplex128) return NaiveComplexReduction<double>(op, x, y);
  if (dtype == DType::kFloat64) return NaiveFloatReduction<double>(op, dtype, x, y);
  if (IsFloat(dtype)) return NaiveFloatReduction<float>(op, dtype, x, y);
  return NaiveIntegerReduction(op, dtype, x, y);
}

void ExpectAsNaive(const OpInfo& op, DType dtype, int64_t count, Fill fill) {
  const Bytes x = RandomArray(dtype, count, fill, 11);
  const Bytes y = RandomArray(dtype, count, fill, 12);
  EXPECT_TRUE(Reduce(op, dtype, x, y) == NaiveReduction(op, dtype, x, y))
      << op.name << " " << Name(dtype) << " x" << count;
}

TEST(ReduceTest, EverySizeAndDTypeFollowsTheTreeOnEveryInstructionSet) {
  ForEachInstructionSet([](const std::string& name) {
    SCOPED_TRACE(name);
    ForEachReduction([](const OpInfo& op, DType dtype) {
      for (const int64_t count : kAwkwardSizes) ExpectAsNaive(op, dtype, count, Fill::kFinite);
      ExpectAsNaive(op, dtype, 3 * kLeafElements, Fill::kFinite);
      ExpectAsNaive(op, dtype, 7 * kLeafElements + 5, Fill::kFinite);
    });
  });
}

TEST(ReduceTest, SpecialValuesReachTheResultAndNansAreCanonical) {
  ForEachInstructionSet([](const std::string& name) {
    SCOPED_TRACE(name);
    ForEachReduction([](const OpInfo& op, DType dtype) {
      for (const int64_t count : kAwkwardSizes) ExpectAsNaive(op, dtype, count, Fill::kAwkward);
    });
  });
}

TEST(ReduceTest, EmptyArraysReduceToZeroOrOne) {
  ForEachReduction([](const OpInfo& op, DType dtype) {
    const Bytes value = Reduce(op, dtype, {}, {});
    EXPECT_TRUE(value == NaiveReduction(op, dtype, {}, {})) << op.name << " " << Name(dtype);
    Bytes of_default(value.size(), std::byte{0xff});
    Finish(op, dtype, ReducePartial{}, of_default.data());
    EXPECT_TRUE(of_default == value);
  });
}

TEST(ReduceTest, APartialHoldsOnlyTheMaximalCompleteSubtrees) {
  const int64_t count = 7 * kLeafElements + 100;
  const Bytes x = RandomArray(DType::kFloat32, count, Fill::kFinite, 6);
  const ReducePartial partial =
      ReduceRange(*FindOp("sum"), {DType::kFloat32, {x.data()}, 3 * kLeafElements - 50, count});
  EXPECT_EQ(partial.head.size(), 50U * 4);
  EXPECT_EQ(partial.tail.size(), 50U * 4);
  std::vector<std::pair<int32_t, int64_t>> places;
  for (const auto& node : partial.nodes) places.emplace_back(node.level, node.index);
  EXPECT_EQ(places, (std::vector<std::pair<int32_t, int64_t>>{{0, 3}, {2, 1}, {1, 4}}));
}

TEST(ReduceTest, ARangeInsideOneLeafHasOnlyAHead) {
  const Bytes x = RandomArray(DType::kInt8, 10, Fill::kFinite, 6);
  for (const int64_t first : {int64_t{0}, int64_t{5}, 2 * kLeafElements}) {
    const ReducePartial partial =
        ReduceRange(*FindOp("sum"), {DType::kInt8, {x.data()}, first, 10});
    EXPECT_EQ(partial.head.size(), 80U);
    EXPECT_TRUE(partial.nodes.empty() && partial.tail.empty());
    EXPECT_EQ(partial.accumulator, DType::kInt64);
  }
}

TEST(ReduceTest, IndicesBeyond32BitsKeepTheirPlaceInTheTree) {
  const int64_t first = (int64_t{1} << 50) + kLeafElements;
  const Bytes x = RandomArray(DType::kFloat64, 3 * kLeafElements, Fill::kFinite, 8);
  const ReducePartial partial =
      ReduceRange(*FindOp("sum"), {DType::kFloat64, {x.data()}, first, 3 * kLeafElements});
  ASSERT_EQ(partial.nodes.size(), 2U);
  EXPECT_EQ(partial.nodes[0].index, (int64_t{1} << 38) + 1);
  EXPECT_EQ(partial.nodes[1].index, (int64_t{1} << 37) + 1);
}

TEST(ReduceDeathTest, OnlyNeighboursOfOneReductionJoin) {
  const Bytes x(400, std::byte{1});
  const OpInfo& sum = *FindOp("sum");
  const auto range = [&](const OpInfo& op, DType dtype, int64_t first) {
    return ReduceRange(op, {dtype, {x.data(), x.data()}, first, 10});
  };
  EXPECT_DEATH(Join(range(sum, DType::kInt8, 0), range(sum, DType::kInt8, 11)), "left.end");
  EXPECT_DEATH(Join(range(sum, DType::kInt8, 0), range(sum, DType::kInt16, 10)), "input");
  EXPECT_DEATH(Join(range(sum, DType::kInt8, 0), range(*FindOp("dot"), DType::kInt8, 10)), "op");
  int64_t value = 0;
  EXPECT_DEATH(Finish(sum, DType::kInt8, range(sum, DType::kInt8, 10), &value), "begin == 0");
}

}  // namespace
}  // namespace shoal::kernels::cpu
