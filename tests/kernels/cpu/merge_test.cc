#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/cpu/sort.h"
#include "tests/kernels/cpu/sorted.h"

namespace shoal::kernels::cpu {
namespace {

/// Sorted runs and what they should merge to.
struct Input {
  Input(DType run_dtype, const std::vector<int64_t>& counts, Fill fill) : dtype(run_dtype) {
    for (size_t i = 0; i < counts.size(); ++i) {
      arrays.push_back(RandomArray(dtype, counts[i], fill, 50 + i));
      SortRows({dtype, arrays.back().data(), 1, counts[i]});
      merged.insert(merged.end(), arrays.back().begin(), arrays.back().end());
    }
    for (size_t i = 0; i < counts.size(); ++i) runs.push_back({arrays[i].data(), counts[i]});
    total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    SortRows({dtype, merged.data(), 1, total});
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  Bytes Slice(int64_t begin, int64_t end) const {
    const int64_t item = ItemBytes(dtype);
    return Bytes(merged.data() + begin * item, merged.data() + end * item);
  }

  DType dtype;
  std::vector<Bytes> arrays;
  std::vector<SortedRun> runs;
  Bytes merged;
  int64_t total = 0;
};

Bytes Merge(const Input& input, int64_t first, int64_t count) {
  Placed output(Bytes(static_cast<size_t>(count * ItemBytes(input.dtype))), input.dtype, 1);
  MergeRuns({input.dtype, input.runs, first, count, output.data()});
  EXPECT_TRUE(output.GuardsHold());
  return output.Read();
}

const std::vector<std::vector<int64_t>> kRunCounts = {
    {0},
    {1},
    {1000},
    {0, 0, 0},
    {1, 1},
    {5000, 3},
    {3, 5000},
    {0, 100, 0, 200},
    {1000, 1000, 1000},
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
    {40'000, 1, 25'000, 0, 25'000, 7, 60'000}};

TEST(MergeTest, RunsOfEverySizeAndDTypeMerge) {
  for (const DType dtype : kRealTypes) {
    for (const std::vector<int64_t>& counts : kRunCounts) {
      const Input input(dtype, counts, Fill::kAwkward);
      EXPECT_TRUE(Merge(input, 0, input.total) == input.merged)
          << Name(dtype) << " " << counts.size() << " runs";
    }
  }
}

TEST(MergeTest, RangesOfRanksGiveTheirPartAlone) {
  std::mt19937_64 random(1);
  for (const DType dtype : {DType::kInt8, DType::kUint64, DType::kFloat32, DType::kBfloat16}) {
    const Input input(dtype, {3000, 0, 10'000, 1, 777}, Fill::kAwkward);
    for (int i = 0; i < 40; ++i) {
      const auto begin = static_cast<int64_t>(random() % 13'779);
      const auto end =
          begin + static_cast<int64_t>(random() % static_cast<uint64_t>(input.total - begin + 1));
      EXPECT_TRUE(Merge(input, begin, end - begin) == input.Slice(begin, end))
          << Name(dtype) << " [" << begin << ", " << end << ")";
    }
  }
}

TEST(MergeTest, SplitsTakeTheSmallestAndEqualElementsFromTheFirstRuns) {
  const std::vector<int32_t> a = {1, 5, 5, 5, 9};
  const std::vector<int32_t> b = {5, 5};
  const std::vector<int32_t> c = {-7, 5, 8};
  const std::vector<SortedRun> runs = {{a.data(), 5}, {b.data(), 2}, {c.data(), 3}};
  using Cuts = std::vector<int64_t>;
  EXPECT_EQ(SplitRuns(DType::kInt32, runs, 0), (Cuts{0, 0, 0}));
  EXPECT_EQ(SplitRuns(DType::kInt32, runs, 1), (Cuts{0, 0, 1}));
  EXPECT_EQ(SplitRuns(DType::kInt32, runs, 4), (Cuts{3, 0, 1}));
  EXPECT_EQ(SplitRuns(DType::kInt32, runs, 6), (Cuts{4, 1, 1}));
  EXPECT_EQ(SplitRuns(DType::kInt32, runs, 8), (Cuts{4, 2, 2}));
  EXPECT_EQ(SplitRuns(DType::kInt32, runs, 10), (Cuts{5, 2, 3}));
}

TEST(MergeTest, SplitsAtRisingRanksNeverCross) {
  const Input input(DType::kInt8, {500, 400, 300}, Fill::kFinite);  // Full of equal elements.
  std::vector<int64_t> last = {0, 0, 0};
  for (int64_t rank = 0; rank <= input.total; ++rank) {
    const std::vector<int64_t> cuts = SplitRuns(DType::kInt8, input.runs, rank);
    EXPECT_EQ(std::accumulate(cuts.begin(), cuts.end(), int64_t{0}), rank);
    for (size_t i = 0; i < cuts.size(); ++i) EXPECT_GE(cuts[i], last[i]) << rank;
    last = cuts;
  }
}

TEST(MergeTest, NoRunsMergeToNothing) {
  MergeRuns({DType::kFloat64, {}, 0, 0, nullptr});
  EXPECT_TRUE(SplitRuns(DType::kFloat64, {}, 0).empty());
}

TEST(MergeDeathTest, RanksBeyondTheEndAreOurFault) {
  const Input input(DType::kInt32, {5, 5}, Fill::kFinite);
  EXPECT_DEATH(SplitRuns(DType::kInt32, input.runs, 11), "check failed");
  EXPECT_DEATH(Merge(input, 8, 3), "check failed");
}

}  // namespace
}  // namespace shoal::kernels::cpu
