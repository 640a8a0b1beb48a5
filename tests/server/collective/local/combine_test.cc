#include "server/collective/local/combine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "kernels/half.h"

namespace shoal::collective {
namespace {

using kernels::DType;

/// The reduction of one element of each rank.
template <typename T>
T Reduce(DType dtype, ReduceOp op, const std::vector<T>& ranks) {
  std::vector<const std::byte*> sources;
  for (const T& value : ranks) sources.push_back(reinterpret_cast<const std::byte*>(&value));
  T result{};
  Combine(dtype, op, sources, {reinterpret_cast<std::byte*>(&result), sizeof(T)});
  return result;
}

TEST(CombineTest, IntegersWrap) {
  EXPECT_EQ(Reduce<int8_t>(DType::kInt8, ReduceOp::kSum, {100, 100}), -56);
  EXPECT_EQ(Reduce<uint16_t>(DType::kUint16, ReduceOp::kProduct, {65535, 65535}), 1);
  EXPECT_EQ(Reduce<int32_t>(DType::kInt32, ReduceOp::kProduct, {INT32_MIN, -1}), INT32_MIN);
  EXPECT_EQ(Reduce<int64_t>(DType::kInt64, ReduceOp::kSum, {INT64_MAX, 1}), INT64_MIN);
  EXPECT_EQ(Reduce<uint64_t>(DType::kUint64, ReduceOp::kMax, {1, UINT64_MAX}), UINT64_MAX);
  EXPECT_EQ(Reduce<int64_t>(DType::kInt64, ReduceOp::kMin, {1, INT64_MIN}), INT64_MIN);
}

TEST(CombineTest, BooleansAreOrAndAnd) {
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kSum, Bytes{1, 1, 0}), 1);
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kProduct, Bytes{1, 1, 0}), 0);
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kMin, Bytes{1, 1, 1}), 1);
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kMax, Bytes{0, 0, 0}), 0);
}

TEST(CombineTest, AnyByteButZeroIsTrue) {
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kProduct, Bytes{1, 2}), 1);
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kMin, Bytes{0x80, 0x7f}), 1);
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kSum, Bytes{2, 4}), 1);
  EXPECT_EQ(Reduce(DType::kBool, ReduceOp::kMax, Bytes{0, 255}), 1);
}

TEST(CombineTest, FloatsAreAddedInRankOrder) {
  EXPECT_EQ(Reduce<float>(DType::kFloat32, ReduceOp::kSum, {1.0F, 1e8F, -1e8F}), 0.0F);
  EXPECT_EQ(Reduce<float>(DType::kFloat32, ReduceOp::kSum, {1e8F, -1e8F, 1.0F}), 1.0F);
}

TEST(CombineTest, HalvesAreRoundedOnce) {
  const auto f16 = [](float value) { return kernels::FloatToFloat16(value); };
  const auto bf16 = [](float value) { return kernels::FloatToBfloat16(value); };
  // Rounded after each step the small terms would be lost one by one.
  EXPECT_EQ(Reduce<uint16_t>(DType::kFloat16, ReduceOp::kSum, {f16(2048), f16(1), f16(1)}),
            f16(2050));
  EXPECT_EQ(Reduce<uint16_t>(DType::kBfloat16, ReduceOp::kSum, {bf16(256), bf16(1), bf16(1)}),
            bf16(258));
  EXPECT_EQ(Reduce<uint16_t>(DType::kFloat16, ReduceOp::kMin, {f16(-3), f16(2)}), f16(-3));
}

TEST(CombineTest, MinimaAndMaximaKeepNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    EXPECT_TRUE(std::isnan(Reduce<double>(DType::kFloat64, op, {nan, 1.0})));
    EXPECT_TRUE(std::isnan(Reduce<double>(DType::kFloat64, op, {1.0, nan, 2.0})));
  }
  EXPECT_EQ(Reduce<double>(DType::kFloat64, ReduceOp::kMin, {1.0, -INFINITY}), -INFINITY);
}

TEST(CombineTest, ComplexNumbersMultiply) {
  using Complex = std::complex<double>;
  EXPECT_EQ(Reduce<Complex>(DType::kComplex128, ReduceOp::kProduct, {{1, 2}, {3, -1}, {0, 1}}),
            Complex(-5, 5));
}

TEST(CombineTest, EveryElementIsCombined) {
  std::vector<float> a(kCombineElementsMax);
  std::vector<float> b(kCombineElementsMax);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i + 1);
  }
  const std::vector<const std::byte*> sources = {reinterpret_cast<const std::byte*>(a.data()),
                                                 reinterpret_cast<const std::byte*>(b.data())};
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{33}, kCombineElementsMax}) {
    std::vector<float> sum(a.size(), -1.0F);
    Combine(DType::kFloat32, ReduceOp::kSum, sources,
            {reinterpret_cast<std::byte*>(sum.data()), count * 4});
    for (size_t i = 0; i < sum.size(); ++i) {
      const bool inside = static_cast<int64_t>(i) < count;
      ASSERT_EQ(sum[i], inside ? static_cast<float>(3 * i + 1) : -1.0F) << i;
    }
  }
}

}  // namespace
}  // namespace shoal::collective
