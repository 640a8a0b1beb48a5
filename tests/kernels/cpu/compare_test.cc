#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

TEST(CompareTest, OrderIsThatOfNumbersAndNothingIsOrderedWithNaN) {
  ExpectBinary(
      "less", []<Real T>(T x, T y) { return ToBool8(x < y); },
      [](Bool8 x, Bool8 y) { return ToBool8(!IsTrue(x) && IsTrue(y)); });
  ExpectBinary(
      "less_equal", []<Real T>(T x, T y) { return ToBool8(x <= y); },
      [](Bool8 x, Bool8 y) { return ToBool8(!IsTrue(x) || IsTrue(y)); });
  ExpectBinary(
      "greater", []<Real T>(T x, T y) { return ToBool8(x > y); },
      [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) && !IsTrue(y)); });
  ExpectBinary(
      "greater_equal", []<Real T>(T x, T y) { return ToBool8(x >= y); },
      [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) || !IsTrue(y)); });
}

TEST(CompareTest, EqualityIsOfNumbers) {
  ExpectBinary(
      "equal", []<Real T>(T x, T y) { return ToBool8(x == y); },
      [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) == IsTrue(y)); },
      []<class T>(Complex<T> x, Complex<T> y) { return ToBool8(x.re == y.re && x.im == y.im); });
  ExpectBinary(
      "not_equal", []<Real T>(T x, T y) { return ToBool8(x != y); },
      [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) != IsTrue(y)); },
      []<class T>(Complex<T> x, Complex<T> y) { return ToBool8(!(x.re == y.re && x.im == y.im)); });
}

// Whatever byte stands for true: peers may send any.
TEST(CompareTest, TruesAreEqualWhateverTheirBytes) {
  const std::array<uint8_t, 3> x = {2, 0, 0x80};
  const std::array<uint8_t, 3> y = {1, 0, 0};
  std::array<uint8_t, 3> out = {};
  const auto run = [&](const char* op) {
    const support::OneKernel one =
        support::OneOp({*FindOp(op), DType::kBool}, {x.data(), y.data()}, {out.data(), 3});
    RunMap(one.kernel, one.args(), {0, 3});
    return out;
  };
  EXPECT_EQ(run("equal"), (std::array<uint8_t, 3>{1, 1, 0}));
  EXPECT_EQ(run("greater"), (std::array<uint8_t, 3>{0, 0, 1}));
}

TEST(CompareTest, KindsOfNumbers) {
  ExpectUnary(
      "isnan", []<std::floating_point T>(T x) { return ToBool8(std::isnan(x)); },
      []<Whole T>(T) { return Bool8::kFalse; },
      []<class T>(Complex<T> x) { return ToBool8(std::isnan(x.re) || std::isnan(x.im)); });
  ExpectUnary(
      "isinf", []<std::floating_point T>(T x) { return ToBool8(std::isinf(x)); },
      []<Whole T>(T) { return Bool8::kFalse; },
      []<class T>(Complex<T> x) { return ToBool8(std::isinf(x.re) || std::isinf(x.im)); });
  ExpectUnary(
      "isfinite", []<std::floating_point T>(T x) { return ToBool8(std::isfinite(x)); },
      []<Whole T>(T) { return Bool8::kTrue; },
      []<class T>(Complex<T> x) { return ToBool8(std::isfinite(x.re) && std::isfinite(x.im)); });
  ExpectUnary("signbit", []<std::floating_point T>(T x) { return ToBool8(std::signbit(x)); });
}

}  // namespace
}  // namespace shoal::kernels::cpu
