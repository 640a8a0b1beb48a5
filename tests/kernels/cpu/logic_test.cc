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
  ExpectBinary("bitwise_and", []<std::integral T>(T x, T y) { return static_cast<T>(x & y); });
  ExpectBinary("bitwise_or", []<std::integral T>(T x, T y) { return static_cast<T>(x | y); });
  ExpectBinary("bitwise_xor", []<std::integral T>(T x, T y) { return static_cast<T>(x ^ y); });
  ExpectUnary("invert", []<std::integral T>(T x) { return static_cast<T>(~x); });
  ExpectUnary("invert", [](Bool8 x) { return ToBool8(!IsTrue(x)); });
}

TEST(LogicTest, ShiftsAreDefinedForEveryCount) {
  const auto run = [](const char* op, int32_t x, int32_t count) {
    int32_t out = 0;
    const support::OneKernel one =
        support::OneOp(*FindOp(op), DType::kInt32, {&x, &count}, &out, 1);
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
  const OpInfo& where = *FindOp("where");
  for (const DType dtype : kAllDTypes) {
    const Bytes condition = RandomArray(DType::kBool, kCaseCount, Fill::kAwkward, 1);
    const Bytes x = RandomArray(dtype, kCaseCount, Fill::kFinite, 2);
    const Bytes y = RandomArray(dtype, kCaseCount, Fill::kFinite, 3);
    Bytes expected = y;
    const int64_t item = ItemBytes(dtype);
    for (int64_t i = 0; i < kCaseCount; ++i) {
      if (condition[static_cast<size_t>(i)] == std::byte{0}) continue;
      std::copy_n(x.begin() + i * item, item, expected.begin() + i * item);
    }
    Bytes out(x.size());
    const support::OneKernel one = support::OneOp(
        where, dtype, {condition.data(), x.data(), y.data()}, out.data(), kCaseCount);
    RunMap(one.kernel, one.args(), {0, kCaseCount});
    if (dtype == DType::kBool) continue;  // Trues come out as 1.
    EXPECT_TRUE(out == expected) << Name(dtype);
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
