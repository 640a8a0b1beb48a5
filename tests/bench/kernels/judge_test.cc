#include "bench/kernels/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace shoal::bench {
namespace {

using kernels::DType;

template <typename T>
Elements Of(DType dtype, const std::vector<T>& values) {
  return {dtype, reinterpret_cast<const std::byte*>(values.data()),
          static_cast<int64_t>(values.size())};
}

TEST(ErrorInUlpsTest, CountsUnitsOfTheLastPlaceOfTheDType) {
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, 1, 1), 0);
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, 1 + 0x1p-23L, 1), 1);
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, 1 + 0x1p-24L, 1), 0.5);
  EXPECT_EQ(ErrorInUlps(DType::kFloat64, 1 + 0x1p-52L, 1), 1);
  EXPECT_EQ(ErrorInUlps(DType::kFloat64, -6, -6 - 0x1p-50L), 1);
  // Subnormal numbers all have the same last place.
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, 0x3p-149L, 0x1p-149L), 2);
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, 0x1p-149L, 0), 1);
}

TEST(ErrorInUlpsTest, SpecialValuesAreRightOrInfinitelyWrong) {
  constexpr long double kNaN = std::numeric_limits<long double>::quiet_NaN();
  constexpr long double kInf = std::numeric_limits<long double>::infinity();
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, kNaN, kNaN), 0);
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, kInf, kInf), 0);
  EXPECT_EQ(ErrorInUlps(DType::kFloat32, kInf, 0x1p200L), 0) << "beyond the largest float32";
  for (const auto& [value, wanted] : std::vector<std::pair<long double, long double>>{
           {kNaN, 1}, {1, kNaN}, {kInf, 1}, {1, kInf}, {-kInf, kInf}}) {
    EXPECT_EQ(ErrorInUlps(DType::kFloat32, value, wanted), HUGE_VAL) << value << " " << wanted;
  }
}

TEST(ErrorInUlpsTest, WholeNumbersAreRightOrWrong) {
  EXPECT_EQ(ErrorInUlps(DType::kInt64, 7, 7), 0);
  EXPECT_EQ(ErrorInUlps(DType::kInt64, 7, 8), HUGE_VAL);
  EXPECT_EQ(ErrorInUlps(DType::kBool, 1, 0), HUGE_VAL);
}

TEST(JudgeResultTest, NoticesOneWrongElement) {
  const KernelCase& add = *FindCase("add");
  const std::vector<float> x = {1, 2, 3};
  const std::vector<float> y = {10, 20, 30};
  const std::vector<Elements> inputs = {Of(DType::kFloat32, x), Of(DType::kFloat32, y)};
  std::vector<float> sum = {11, 22, 33};
  EXPECT_EQ(JudgeResult(add, inputs, Of(DType::kFloat32, sum)).wrong, 0);
  sum[1] = std::nextafter(sum[1], 0.0F);
  const Verdict verdict = JudgeResult(add, inputs, Of(DType::kFloat32, sum));
  EXPECT_EQ(verdict.wrong, 1);
  EXPECT_EQ(verdict.ulps, 1);
}

TEST(JudgeResultTest, SumsAreHeldAgainstAnExactOne) {
  const KernelCase& mean = *FindCase("mean");
  const std::vector<double> x(1000, 1.5);
  const std::vector<Elements> inputs = {Of(DType::kFloat64, x)};
  std::vector<double> value = {1.5};
  EXPECT_EQ(JudgeResult(mean, inputs, Of(DType::kFloat64, value)).ulps, 0);
  value[0] += 1e-9;
  EXPECT_EQ(JudgeResult(mean, inputs, Of(DType::kFloat64, value)).wrong, 1);
}

TEST(JudgeResultTest, SortedMeansTheSameElementsInOrder) {
  const KernelCase& sort = *FindCase("sort");
  const std::vector<int32_t> x = {3, -1, 2};
  const std::vector<Elements> inputs = {Of(DType::kInt32, x)};
  EXPECT_EQ(JudgeResult(sort, inputs, Of<int32_t>(DType::kInt32, {-1, 2, 3})).wrong, 0);
  EXPECT_EQ(JudgeResult(sort, inputs, Of<int32_t>(DType::kInt32, {-1, 2, 2})).wrong, 1);
}

TEST(CompareResultsTest, OtherDTypesAreJudgedByOurs) {
  const std::vector<float> ours = {1};
  const std::vector<double> theirs = {1 + 0x1p-22};
  const Elements a = Of(DType::kFloat32, ours);
  const Elements b = Of(DType::kFloat64, theirs);
  EXPECT_EQ(CompareResults(a, b, 2).wrong, 0);
  EXPECT_EQ(CompareResults(a, b, 2).ulps, 2);
  EXPECT_EQ(CompareResults(a, b, 1).wrong, 1);
}

TEST(CompareResultsTest, EveryElementIsWrongWhereTheCountsDiffer) {
  const std::vector<float> ours = {1, 2, 3};
  const std::vector<float> theirs = {1};
  EXPECT_EQ(CompareResults(Of(DType::kFloat32, ours), Of(DType::kFloat32, theirs), 9).wrong, 3);
}

TEST(FillUniformTest, StaysInTheRangeAndDependsOnTheSeedAlone) {
  const auto filled = [](uint64_t seed) {
    std::vector<float> values(1000);
    FillUniform({-2, 3}, seed,
                {DType::kFloat32, reinterpret_cast<std::byte*>(values.data()), 1000});
    return values;
  };
  const std::vector<float> values = filled(1);
  EXPECT_EQ(values, filled(1));
  EXPECT_NE(values, filled(2));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*low, -2);
  EXPECT_LT(*low, -1.9);
  EXPECT_GT(*high, 2.9);
}

}  // namespace
}  // namespace shoal::bench
