#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/cpu/map.h"
#include "kernels/half.h"
#include "tests/kernels/cpu/arrays.h"

// What add, multiply and axpy mean where it is easily lost; map_test.cc compares every size and
// dtype with a naive reference.
namespace shoal::kernels::cpu {
namespace {

// The product alone is 1 + 2^-11 + 2^-24: rounded before the sum, the last part is lost.
TEST(ArithmeticTest, ProductsAreRoundedBeforeTheyAreAdded) {
  const float x[] = {1.0F + std::ldexp(1.0F, -12)};
  const float y[] = {-1.0F - std::ldexp(1.0F, -11)};
  float out[] = {1.0F};
  MapArgs args = {DType::kFloat32, {x, y}, {}, {double{x[0]}}, out, 1};
  ForEachInstructionSet([&](const std::string& name) {
    RunMap(*FindOp("axpy"), args);
    EXPECT_EQ(out[0], 0.0F) << name;
  });
}

TEST(ArithmeticTest, HalvesAreRoundedOncePerOp) {
  // 3 * 0x3c01 = 3.0029...; + 2^-11 * 3: rounding the product first would give another last bit.
  int differences = 0;
  for (uint32_t bits = 0x3c00; bits < 0x4000; ++bits) {
    const auto x = static_cast<uint16_t>(bits);
    const uint16_t y = 0x1555;
    uint16_t out = 0;
    RunMap(*FindOp("axpy"), {DType::kFloat16, {&x, &y}, {}, {3.0}, &out, 1});
    const float product = 3.0F * Float16ToFloat(x);
    ASSERT_EQ(out, FloatToFloat16(product + Float16ToFloat(y)));
    const float rounded = Float16ToFloat(FloatToFloat16(product));
    differences += out != FloatToFloat16(rounded + Float16ToFloat(y)) ? 1 : 0;
  }
  EXPECT_GT(differences, 0) << "the inputs must be able to tell";
}

TEST(ArithmeticTest, TheFactorIsRoundedToTheDTypeOnce) {
  const uint16_t x = 0x3c00;  // 1.0
  const uint16_t y = 0x8000;  // -0.0
  uint16_t out = 0;
  // Just above a tie of float16; as a float32 it would be the tie and go down to even.
  const double a = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  RunMap(*FindOp("axpy"), {DType::kFloat16, {&x, &y}, {}, {a}, &out, 1});
  EXPECT_EQ(out, 0x3c01);
}

TEST(ArithmeticTest, FactorsOfTheWholeIntegerRangeArriveExactly) {
  const uint64_t one = 1;
  const uint64_t zero = 0;
  uint64_t out = 0;
  RunMap(*FindOp("axpy"), {DType::kUint64, {&one, &zero}, {}, {std::ldexp(1.0, 63)}, &out, 1});
  EXPECT_EQ(out, uint64_t{1} << 63);
  RunMap(*FindOp("axpy"), {DType::kInt64, {&one, &zero}, {}, {-std::ldexp(1.0, 63)}, &out, 1});
  EXPECT_EQ(out, uint64_t{1} << 63);
}

TEST(ArithmeticTest, AnyByteButZeroIsTrueInABool) {
  const std::array<uint8_t, 4> x = {0, 2, 0, 0x80};
  const std::array<uint8_t, 4> y = {0, 4, 0xff, 0};
  std::array<uint8_t, 4> out = {};
  RunMap(*FindOp("add"), {DType::kBool, {x.data(), y.data()}, {}, {}, out.data(), 4});
  EXPECT_EQ(out, (std::array<uint8_t, 4>{0, 1, 1, 1}));
  RunMap(*FindOp("multiply"), {DType::kBool, {x.data(), y.data()}, {}, {}, out.data(), 4});
  EXPECT_EQ(out, (std::array<uint8_t, 4>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace shoal::kernels::cpu
