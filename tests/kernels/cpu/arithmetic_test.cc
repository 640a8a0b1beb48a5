#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/map.h"
#include "kernels/half.h"
#include "tests/kernels/cpu/op_cases.h"

// What the arithmetic means where it is easily lost; map_test.cc compares add, multiply and axpy
// with a naive reference in every size and dtype.
namespace shoal::kernels::cpu {
namespace {

struct Op {
  const char* name;
  DType dtype;
  std::vector<Scalar> params;
};

void RunOne(const Op& op, std::vector<const void*> inputs, void* out, int64_t count) {
  const support::OneKernel one =
      support::OneOp({*FindOp(op.name), op.dtype}, std::move(inputs), {out, count}, op.params);
  RunMap(one.kernel, one.args(), {0, count});
}

// The product alone is 1 + 2^-11 + 2^-24: rounded before the sum, the last part is lost.
TEST(ArithmeticTest, ProductsAreRoundedBeforeTheyAreAdded) {
  const float x[] = {1.0F + std::ldexp(1.0F, -12)};
  const float y[] = {-1.0F - std::ldexp(1.0F, -11)};
  float out[] = {1.0F};
  ForEachInstructionSet([&](const std::string& name) {
    RunOne({"axpy", DType::kFloat32, {double{x[0]}}}, {x, y}, out, 1);
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
    RunOne({"axpy", DType::kFloat16, {3.0}}, {&x, &y}, &out, 1);
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
  RunOne({"axpy", DType::kFloat16, {a}}, {&x, &y}, &out, 1);
  EXPECT_EQ(out, 0x3c01);
}

TEST(ArithmeticTest, FactorsOfTheWholeIntegerRangeArriveExactly) {
  const uint64_t one = 1;
  const uint64_t zero = 0;
  uint64_t out = 0;
  RunOne({"axpy", DType::kUint64, {std::ldexp(1.0, 63)}}, {&one, &zero}, &out, 1);
  EXPECT_EQ(out, uint64_t{1} << 63);
  RunOne({"axpy", DType::kInt64, {-std::ldexp(1.0, 63)}}, {&one, &zero}, &out, 1);
  EXPECT_EQ(out, uint64_t{1} << 63);
}

TEST(ArithmeticTest, TheRestOfItInPlainCpp) {
  ExpectBinary(
      "subtract", []<std::floating_point T>(T x, T y) { return x - y; },
      []<std::integral T>(T x, T y) {
        return static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
      },
      []<class T>(Complex<T> x, Complex<T> y) {
        return Complex<T>{x.re - y.re, x.im - y.im};
      });
  ExpectUnary(
      "negative", []<std::floating_point T>(T x) { return -x; },
      []<std::integral T>(T x) { return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)); },
      []<class T>(Complex<T> x) {
        return Complex<T>{-x.re, -x.im};
      });
  ExpectUnary(
      "absolute", []<std::floating_point T>(T x) { return std::fabs(x); },
      []<std::integral T>(T x) {
        const auto bits = static_cast<uint64_t>(x);
        return static_cast<T>(x < 0 ? uint64_t{0} - bits : bits);
      },
      [](Bool8 x) { return x; });
  ExpectUnary("sign", []<Real T>(T x) {
    return x > 0 ? T{1} : x < 0 ? static_cast<T>(-1) : x == x ? T{0} : x;
  });
  ExpectUnary(
      "square", []<std::floating_point T>(T x) { return x * x; },
      []<std::integral T>(T x) {
        return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
      },
      []<class T>(Complex<T> x) {
        const volatile T of_real = x.re * x.re;  // Variables keep a compiler from fusing.
        const volatile T of_imaginary = x.im * x.im;
        const volatile T mixed = x.re * x.im;
        return Complex<T>{of_real - of_imaginary, mixed + mixed};
      });
  ExpectUnary("sqrt", []<std::floating_point T>(T x) { return std::sqrt(x); });
  ExpectUnary(
      "positive", []<Real T>(T x) { return x; }, []<class T>(Complex<T> x) { return x; });
  ExpectOfAll<3>("fma", []<std::floating_point T>(T x, T y, T z) { return std::fma(x, y, z); });
}

// (1 + 2^-27)^2 - 1 in one rounding is 2^-26 + 2^-54.
TEST(ArithmeticTest, FmaRoundsOnce) {
  const double x = 1 + std::ldexp(1.0, -27);
  const double z = -1.0;
  ForEachInstructionSet([&](const std::string& name) {
    double out = 0;
    RunOne({"fma", DType::kFloat64, {}}, {&x, &x, &z}, &out, 1);
    EXPECT_EQ(out, std::ldexp(1.0, -26) + std::ldexp(1.0, -54)) << name;
  });
}

/// The arrays of an op in a half's dtype, and the same numbers as float32.
struct HalvesAndFloats {
  HalvesAndFloats(const OpInfo& op, DType dtype) {
    for (size_t i = 0; i < static_cast<size_t>(op.inputs_max); ++i) {
      const bool condition = op.condition && i == 0;
      const DType of = condition ? DType::kBool : dtype;
      halves.push_back(RandomArray(of, kCaseCount, Fill::kAwkward, i));
      floats.push_back(condition ? halves[i] : Widened(dtype, halves[i]));
    }
  }

  static Bytes Widened(DType dtype, const Bytes& halves) {
    Bytes floats(2 * halves.size());
    for (size_t at = 0; at < halves.size(); at += 2) {
      Store(floats.data() + 2 * at, static_cast<float>(LoadFloat(dtype, halves.data() + at)));
    }
    return floats;
  }

  std::vector<Bytes> halves;
  std::vector<Bytes> floats;
};

Bytes ResultOf(const support::OpOf& of, const std::vector<Bytes>& inputs, Stores stores) {
  std::vector<const void*> data;
  for (const Bytes& input : inputs) data.push_back(input.data());
  Bytes out(static_cast<size_t>(kCaseCount * ItemBytes(OutputDType(of.op, of.dtype))));
  const support::OneKernel one = support::OneOp(of, data, {out.data(), kCaseCount});
  RunMap(one.kernel, one.args(), {0, kCaseCount}, stores);
  return out;
}

/// Float32 results in the dtype of a half; what is of another dtype as it is.
Bytes Rounded(const Bytes& wide, DType result) {
  if (!IsHalf(result)) return wide;
  Bytes halves(wide.size() / 2);
  for (size_t at = 0; at < halves.size(); at += 2) {
    StoreFloat(result, halves.data() + at, double{Load<float>(wide.data() + 2 * at)});
  }
  return halves;
}

// Whatever an op does to halves, it does to them as float32 and rounds the result once.
TEST(ArithmeticTest, HalvesAreTheFloatsRounded) {
  for (const OpInfo& op : AllOps()) {
    if (op.form != OpForm::kMap || !op.params.empty()) continue;
    for (const DType dtype : {DType::kFloat16, DType::kBfloat16}) {
      if (!op.Supports(dtype)) continue;
      const HalvesAndFloats inputs(op, dtype);
      for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
        const Bytes wide = ResultOf({op, DType::kFloat32}, inputs.floats, stores);
        EXPECT_TRUE(ResultOf({op, dtype}, inputs.halves, stores) ==
                    Rounded(wide, OutputDType(op, dtype)))
            << op.name << " " << Name(dtype);
      }
    }
  }
}

TEST(ArithmeticTest, AnyByteButZeroIsTrueInABool) {
  const std::array<uint8_t, 4> x = {0, 2, 0, 0x80};
  const std::array<uint8_t, 4> y = {0, 4, 0xff, 0};
  std::array<uint8_t, 4> out = {};
  RunOne({"add", DType::kBool, {}}, {x.data(), y.data()}, out.data(), 4);
  EXPECT_EQ(out, (std::array<uint8_t, 4>{0, 1, 1, 1}));
  RunOne({"multiply", DType::kBool, {}}, {x.data(), y.data()}, out.data(), 4);
  EXPECT_EQ(out, (std::array<uint8_t, 4>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace shoal::kernels::cpu
