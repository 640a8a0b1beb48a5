#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/cpu/reduce.h"
#include "tests/kernels/cpu/arrays.h"

// What sum and dot mean where it is easily lost; reduce_test.cc compares every size and dtype with
// the canonical tree written naively.
namespace shoal::kernels::cpu {
namespace {

TEST(FoldTest, ASumOfNegativeZerosIsNegative) {
  const std::vector<float> x(5000, -0.0F);
  float sum = 1.0F;
  ReduceAll(*FindOp("sum"), {DType::kFloat32, {x.data()}, 0, 5000}, &sum);
  EXPECT_TRUE(sum == 0.0F && std::signbit(sum));
}

TEST(FoldTest, AnyByteButZeroCountsAsOneTrue) {
  std::vector<uint8_t> x(10'000, 0);
  for (size_t i = 0; i < x.size(); i += 2) x[i] = static_cast<uint8_t>(1 + i % 255);
  int64_t sum = 0;
  ReduceAll(*FindOp("sum"), {DType::kBool, {x.data()}, 0, 10'000}, &sum);
  EXPECT_EQ(sum, 5000);
  const std::vector<uint8_t> two(10'000, 2);
  uint8_t any = 9;
  ReduceAll(*FindOp("dot"), {DType::kBool, {x.data(), two.data()}, 0, 10'000}, &any);
  EXPECT_EQ(any, 1) << "2 & 1 is 0 as bytes, but true and true";
}

// Every leaf of the extreme value, so that a leaf's 32-bit partial sum would show an overflow.
TEST(FoldTest, SumsOfExtremeSmallIntegersAreExact) {
  const int64_t count = 5 * kLeafElements + 17;
  const auto n = static_cast<size_t>(count);
  const std::vector<int8_t> bytes(n, -128);
  const std::vector<uint16_t> words(n, 65'535);
  const std::vector<int16_t> shorts(n, -32'768);
  int64_t sum = 0;
  uint64_t unsigned_sum = 0;
  const OpInfo& op = *FindOp("sum");
  ReduceAll(op, {DType::kInt8, {bytes.data()}, 0, count}, &sum);
  EXPECT_EQ(sum, -128 * count);
  ReduceAll(op, {DType::kInt16, {shorts.data()}, 0, count}, &sum);
  EXPECT_EQ(sum, -32'768 * count);
  ReduceAll(op, {DType::kUint16, {words.data()}, 0, count}, &unsigned_sum);
  EXPECT_EQ(unsigned_sum, 65'535U * n);
}

TEST(FoldTest, SumsAreAsAccurateAsPairwiseOnes) {
  const int64_t count = 3'000'001;
  const Bytes x = RandomArray(DType::kFloat32, count, Fill::kFinite, 5);
  long double exact = 0;
  long double magnitude = 0;
  for (int64_t i = 0; i < count; ++i) {
    const long double term = Load<float>(x.data() + 4 * i);
    exact += term;
    magnitude += std::abs(term);
  }
  float sum = 0;
  ReduceAll(*FindOp("sum"), {DType::kFloat32, {x.data()}, 0, count}, &sum);
  // No term passes more than 128 + 5 + log2(leaves) additions, each off by half a unit at most.
  const long double depth = 128 + 5 + std::ceil(std::log2(count / double{kLeafElements}));
  const long double bound = depth * std::ldexp(1.0L, -24) * magnitude;
  EXPECT_LE(std::abs(sum - exact), bound);
  EXPECT_LE(std::abs(sum - exact), 1e-8L * magnitude) << "typically far below the bound";
}

TEST(FoldTest, HalvesAreAddedInFloatAndRoundedAtTheEnd) {
  const std::vector<uint16_t> ones(5000, 0x3c00);
  uint16_t sum = 0;
  ReduceAll(*FindOp("sum"), {DType::kFloat16, {ones.data()}, 0, 5000}, &sum);
  EXPECT_EQ(sum, FloatToFloat16(5000.0F)) << "float16 itself stops counting at 2048";
}

}  // namespace
}  // namespace shoal::kernels::cpu
