#include "kernels/program/promotion.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace shoal::kernels::program {
namespace {

// As NumPy names its codes; complex128 is cx, to keep the table narrow.
constexpr std::array<std::pair<const char*, DType>, 14> kCodes = {{{"b1", DType::kBool},
                                                                   {"i1", DType::kInt8},
                                                                   {"i2", DType::kInt16},
                                                                   {"i4", DType::kInt32},
                                                                   {"i8", DType::kInt64},
                                                                   {"u1", DType::kUint8},
                                                                   {"u2", DType::kUint16},
                                                                   {"u4", DType::kUint32},
                                                                   {"u8", DType::kUint64},
                                                                   {"f2", DType::kFloat16},
                                                                   {"f4", DType::kFloat32},
                                                                   {"f8", DType::kFloat64},
                                                                   {"c8", DType::kComplex64},
                                                                   {"cx", DType::kComplex128}}};

// numpy.promote_types of each two of them, a row each, made by NumPy 1.24 (NumPy 2 has the same).
constexpr const char* kTable[] = {
    "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 cx", "i1 i1 i2 i4 i8 i2 i4 i8 f8 f2 f4 f8 c8 cx",
    "i2 i2 i2 i4 i8 i2 i4 i8 f8 f4 f4 f8 c8 cx", "i4 i4 i4 i4 i8 i4 i4 i8 f8 f8 f8 f8 cx cx",
    "i8 i8 i8 i8 i8 i8 i8 i8 f8 f8 f8 f8 cx cx", "u1 i2 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 cx",
    "u2 i4 i4 i4 i8 u2 u2 u4 u8 f4 f4 f8 c8 cx", "u4 i8 i8 i8 i8 u4 u4 u4 u8 f8 f8 f8 cx cx",
    "u8 f8 f8 f8 f8 u8 u8 u8 u8 f8 f8 f8 cx cx", "f2 f2 f4 f8 f8 f2 f4 f8 f8 f2 f4 f8 c8 cx",
    "f4 f4 f4 f8 f8 f4 f4 f8 f8 f4 f4 f8 c8 cx", "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 cx cx",
    "c8 c8 c8 cx cx c8 c8 cx cx c8 c8 cx c8 cx", "cx cx cx cx cx cx cx cx cx cx cx cx cx cx",
};

/// Empty for what NumPy does not have.
std::string CodeOf(DType dtype) {
  for (const auto& [code, known] : kCodes) {
    if (known == dtype) return code;
  }
  return "";
}

TEST(PromoteTest, IsNumPysTable) {
  for (size_t i = 0; i < kCodes.size(); ++i) {
    std::istringstream row(kTable[i]);
    for (const auto& [code, dtype] : kCodes) {
      std::string expected;
      row >> expected;
      const DType seen = Promote(kCodes[i].second, dtype);
      EXPECT_EQ(CodeOf(seen), expected) << kCodes[i].first << " and " << code;
    }
  }
}

TEST(PromoteTest, DoesNotDependOnTheOrder) {
  for (const DType a : kAllDTypes) {
    for (const DType b : kAllDTypes) EXPECT_EQ(Promote(a, b), Promote(b, a));
  }
}

TEST(PromoteTest, Bfloat16IsAnotherFloatOf16Bits) {
  EXPECT_EQ(Promote(DType::kBfloat16, DType::kBfloat16), DType::kBfloat16);
  EXPECT_EQ(Promote(DType::kBfloat16, DType::kInt8), DType::kBfloat16);
  EXPECT_EQ(Promote(DType::kBfloat16, DType::kFloat16), DType::kFloat32);
  EXPECT_EQ(Promote(DType::kBfloat16, DType::kFloat32), DType::kFloat32);
  EXPECT_EQ(Promote(DType::kBfloat16, DType::kInt64), DType::kFloat64);
  EXPECT_EQ(Promote(DType::kBfloat16, DType::kComplex64), DType::kComplex64);
}

TEST(PromoteWeakTest, ANumberTakesTheDTypeOfTheArrayThatCanHoldItsKind) {
  EXPECT_EQ(PromoteWeak(DType::kInt8, WeakKind::kInt), DType::kInt8);
  EXPECT_EQ(PromoteWeak(DType::kFloat16, WeakKind::kFloat), DType::kFloat16);
  EXPECT_EQ(PromoteWeak(DType::kBool, WeakKind::kBool), DType::kBool);
  EXPECT_EQ(PromoteWeak(DType::kBool, WeakKind::kInt), DType::kInt64);
  EXPECT_EQ(PromoteWeak(DType::kInt8, WeakKind::kFloat), DType::kFloat64);
  EXPECT_EQ(PromoteWeak(DType::kFloat32, WeakKind::kComplex), DType::kComplex64);
  EXPECT_EQ(PromoteWeak(DType::kFloat64, WeakKind::kComplex), DType::kComplex128);
  EXPECT_EQ(PromoteWeak(DType::kUint8, WeakKind::kComplex), DType::kComplex128);
  EXPECT_EQ(PromoteWeak(DType::kComplex64, WeakKind::kFloat), DType::kComplex64);
}

TEST(DefaultDTypeTest, WithoutAnArrayItIsTheWidest) {
  EXPECT_EQ(DefaultDType(WeakKind::kBool), DType::kBool);
  EXPECT_EQ(DefaultDType(WeakKind::kInt), DType::kInt64);
  EXPECT_EQ(DefaultDType(WeakKind::kFloat), DType::kFloat64);
  EXPECT_EQ(DefaultDType(WeakKind::kComplex), DType::kComplex128);
}

}  // namespace
}  // namespace shoal::kernels::program
