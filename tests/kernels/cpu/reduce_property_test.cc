#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cpu/reduce.h"
#include "tests/kernels/cpu/arrays.h"

// The promise on which results rest that do not change with the number of workers: however an array
// is cut, and in whatever order neighbours are joined, the partial is the same, field by field.
namespace shoal::kernels::cpu {
namespace {

std::vector<DType> DTypesOf(const OpInfo& op) {
  std::vector<DType> dtypes;
  for (const DType dtype : kAllDTypes) {
    if (op.Supports(dtype)) dtypes.push_back(dtype);
  }
  return dtypes;
}

/// 1 to 32 ranges of [0, count), some of them empty; every other cut is leaf-aligned at random.
std::vector<int64_t> RandomCuts(int64_t count) {
  const int parts = *rc::gen::inRange(1, 33);
  std::vector<int64_t> cuts = {0, count};
  for (int i = 1; i < parts; ++i) {
    const int64_t cut = *rc::gen::inRange<int64_t>(0, count + 1);
    const bool aligned = *rc::gen::arbitrary<bool>();
    cuts.push_back(aligned ? cut / kLeafElements * kLeafElements : cut);
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// Joins random neighbours until one partial is left.
ReducePartial JoinInRandomOrder(std::vector<ReducePartial> partials) {
  while (partials.size() > 1) {
    const auto at = *rc::gen::inRange<size_t>(0, partials.size() - 1);
    const auto left = partials.begin() + static_cast<std::ptrdiff_t>(at);
    *left = Join(std::move(*left), std::move(*(left + 1)));
    partials.erase(left + 1);
  }
  return std::move(partials.front());
}

void CutsAndJoinsDoNotMatter(const OpInfo& op, int64_t begin) {
  const DType dtype = *rc::gen::elementOf(DTypesOf(op));
  const int64_t count =
      *rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 200), rc::gen::inRange<int64_t>(4000, 9000),
                      rc::gen::inRange<int64_t>(0, 120'000));
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const Fill fill = seed % 4 == 0 ? Fill::kAwkward : Fill::kFinite;
  const Bytes x = RandomArray(dtype, count, fill, seed);
  const Bytes y = RandomArray(dtype, count, fill, seed + 1);
  const std::vector<int64_t> cuts = RandomCuts(count);

  std::vector<ReducePartial> partials;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const int64_t offset = cuts[i] * ItemBytes(dtype);
    partials.push_back(ReduceRange(
        op,
        {dtype, {x.data() + offset, y.data() + offset}, begin + cuts[i], cuts[i + 1] - cuts[i]}));
  }
  const ReducePartial whole = ReduceRange(op, {dtype, {x.data(), y.data()}, begin, count});
  const ReducePartial joined = JoinInRandomOrder(std::move(partials));
  RC_ASSERT(joined == whole);
  if (begin != 0 || (count == 0 && op.needs_elements)) return;

  Bytes direct(16);
  Bytes finished(16);
  ReduceAll(op, {dtype, {x.data(), y.data()}, 0, count}, direct.data());
  Finish(op, dtype, joined, finished.data());
  RC_ASSERT(finished == direct);
}

void Check(int64_t begin) {
  for (const OpInfo& op : AllOps()) {
    if (op.form != OpForm::kReduce) continue;
    EXPECT_TRUE(
        rc::check(std::string(op.name), [&op, begin] { CutsAndJoinsDoNotMatter(op, begin); }));
  }
}

TEST(ReducePropertyTest, CutsAndOrdersOfJoiningDoNotChangeAWholeArray) { Check(0); }

TEST(ReducePropertyTest, NorARangeThatStartsInTheMiddleOfALeaf) { Check(5 * kLeafElements + 1234); }

TEST(ReducePropertyTest, NorARangeThatStartsOnALeaf) { Check(3 * kLeafElements); }

}  // namespace
}  // namespace shoal::kernels::cpu
