#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

template <class T>
bool Truth(T x) {
  if constexpr (kIsComplex<T>) {
    return x.re != 0 || x.im != 0;
  } else if constexpr (std::is_same_v<T, Bool8>) {
    return IsTrue(x);
  } else {
    return x != 0;
  }
}

TEST(LogicTest, WhatIsNotZeroIsTrueNaNToo) {
  ExpectBinary("logical_and", []<class T>(T x, T y) { return ToBool8(Truth(x) && Truth(y)); });
  ExpectBinary("logical_or", []<class T>(T x, T y) { return ToBool8(Truth(x) || Truth(y)); });
  ExpectBinary("logical_xor", []<class T>(T x, T y) { return ToBool8(Truth(x) != Truth(y)); });
  ExpectUnary("logical_not", []<class T>(T x) { return ToBool8(!Truth(x)); });
}

TEST(LogicTest, Bits) {
  ExpectBinary(
      "bitwise_and", []<std::integral T>(T x, T y) { return static_cast<T>(x & y); },
      [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) && IsTrue(y)); });
  ExpectBinary(
      "bitwise_or", []<std::integral T>(T x, T y) { return static_cast<T>(x | y); },
      [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) || IsTrue(y)); });
  ExpectBinary(
      "bitwise_xor", []<std::integral T>(T x, T y) { return static_cast<T>(x ^ y); },
      [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) != IsTrue(y)); });
  ExpectUnary(
      "invert", []<std::integral T>(T x) { return static_cast<T>(~x); },
      [](Bool8 x) { return ToBool8(!IsTrue(x)); });
}

TEST(LogicTest, ShiftsAreDefinedForEveryCount) {
  const auto run = [](const char* op, int32_t x, int32_t count) {
    int32_t out = 0;
    const support::OneKernel one =
        support::OneOp({*FindOp(op), DType::kInt32}, {&x, &count}, {&out, 1});
    RunMap(one.kernel, one.args(), {0, 1});
    return out;
  };
  EXPECT_EQ(run("left_shift", 3, 4), 48);
  EXPECT_EQ(run("left_shift", 3, 31), INT32_MIN);
  for (const int32_t count : {32, 33, 64, INT32_MAX, -1, INT32_MIN}) {
    EXPECT_EQ(run("left_shift", 3, count), 0) << count;
    EXPECT_EQ(run("right_shift", 3, count), 0) << count;
    EXPECT_EQ(run("right_shift", -3, count), -1) << count;
  }
  EXPECT_EQ(run("right_shift", -5, 1), -3) << "floors";
  ExpectBinary("left_shift", []<std::integral T>(T x, T count) {
    const auto places = static_cast<std::make_unsigned_t<T>>(count);
    if (places >= 8 * sizeof(T)) return T{0};
    return static_cast<T>(static_cast<uint64_t>(x) << places);
  });
  ExpectBinary("right_shift", []<std::integral T>(T x, T count) {
    const auto places = static_cast<std::make_unsigned_t<T>>(count);
    if (places >= 8 * sizeof(T)) return static_cast<T>(x < 0 ? -1 : 0);
    return static_cast<T>(x >> places);
  });
}

TEST(LogicTest, WhereChoosesElementByElement) {
  ExpectOfAll<3, true>(
      "where", []<Real T>(Bool8 condition, T x, T y) { return IsTrue(condition) ? x : y; },
      [](Bool8 condition, Bool8 x, Bool8 y) { return IsTrue(condition) ? x : y; },
      []<class T>(Bool8 condition, Complex<T> x, Complex<T> y) {
        return IsTrue(condition) ? x : y;
      });
}

}  // namespace
}  // namespace shoal::kernels::cpu
