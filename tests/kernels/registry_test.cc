#include "kernels/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace shoal::kernels {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string Message(const absl::Status& status) { return std::string(status.message()); }

absl::Status Validate(DType dtype, const Scalar& a) {
  return ValidateParams(*FindOp("axpy"), dtype, std::vector<Scalar>{a});
}

TEST(RegistryTest, EveryOpIsFoundByItsName) {
  std::set<std::string> names;
  int64_t index = 0;
  for (const OpInfo& op : AllOps()) {
    EXPECT_EQ(FindOp(op.name), &op);
    EXPECT_EQ(IndexOf(op), index++);
    names.insert(std::string(op.name));
  }
  for (const char* name : {"echo", "axpy", "add", "multiply", "sum", "dot", "sort"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(RegistryTest, NoOtherNameIsFound) {
  for (const char* name : {"", "ad", "addd", "Add", "a\xff", "sum "}) {
    EXPECT_EQ(FindOp(name), nullptr) << name;
  }
  EXPECT_EQ(FindOp(std::string(1'000'000, 'x')), nullptr);
}

TEST(RegistryTest, WhatAnOpComputesInIsADTypeThatItSupports) {
  for (const OpInfo& op : AllOps()) {
    for (const DType dtype : kAllDTypes) {
      const absl::StatusOr<DType> computed = ComputeDType(op, dtype);
      if (computed.ok()) {
        EXPECT_TRUE(op.Supports(*computed)) << op.name << Name(dtype);
        EXPECT_EQ(*computed == dtype, op.Supports(dtype)) << op.name << Name(dtype);
      } else {
        EXPECT_EQ(computed.status().code(), absl::StatusCode::kUnimplemented);
        EXPECT_FALSE(op.Supports(dtype)) << op.name << Name(dtype);
      }
    }
  }
}

TEST(RegistryTest, IntegersAreConvertedWhereTheOpGivesFractions) {
  EXPECT_EQ(*ComputeDType(*FindOp("sqrt"), DType::kBool), DType::kFloat32);
  EXPECT_EQ(*ComputeDType(*FindOp("sqrt"), DType::kUint16), DType::kFloat32);
  EXPECT_EQ(*ComputeDType(*FindOp("sqrt"), DType::kInt32), DType::kFloat64);
  EXPECT_EQ(*ComputeDType(*FindOp("sqrt"), DType::kBfloat16), DType::kBfloat16);
  EXPECT_EQ(*ComputeDType(*FindOp("divide"), DType::kInt8), DType::kFloat64);
  EXPECT_EQ(*ComputeDType(*FindOp("remainder"), DType::kBool), DType::kInt8);
}

TEST(RegistryTest, UnimplementedNamesTheOpTheDTypeAndWhatThereIs) {
  const absl::Status status = ComputeDType(*FindOp("sort"), DType::kComplex64).status();
  EXPECT_EQ(Message(status),
            "op 'sort' is not built for complex64; it is for bool, int8, int16, int32, int64, "
            "uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64");
  EXPECT_FALSE(ComputeDType(*FindOp("axpy"), DType::kBool).ok());
}

TEST(RegistryTest, OutputsHaveTheDTypeOfTheirRule) {
  EXPECT_EQ(OutputDType(*FindOp("less"), DType::kFloat64), DType::kBool);
  EXPECT_EQ(OutputDType(*FindOp("real"), DType::kComplex64), DType::kFloat32);
  EXPECT_EQ(OutputDType(*FindOp("imag"), DType::kComplex128), DType::kFloat64);
  EXPECT_EQ(OutputDType(*FindOp("real"), DType::kInt16), DType::kInt16);
}

TEST(RegistryTest, LiteralsAreValuesOfADTypeOrNot) {
  EXPECT_TRUE(IsValueOf(DType::kInt8, Scalar(-128.0)));
  EXPECT_FALSE(IsValueOf(DType::kInt8, Scalar(0.5)));
  EXPECT_FALSE(IsValueOf(DType::kUint8, Scalar(int64_t{-1})));
  EXPECT_TRUE(IsValueOf(DType::kFloat16, Scalar(1e300)));
  EXPECT_FALSE(IsValueOf(DType::kFloat64, Scalar(std::complex<double>(0, 1))));
  EXPECT_TRUE(IsValueOf(DType::kComplex64, Scalar(std::complex<double>(0, 1))));
}

TEST(RegistryTest, SumWidensSmallIntegersAndNothingElse) {
  const OpInfo& sum = *FindOp("sum");
  for (const DType dtype : kAllDTypes) {
    DType expected = dtype;
    if (Name(dtype).starts_with("int") || dtype == DType::kBool) expected = DType::kInt64;
    if (Name(dtype).starts_with("uint")) expected = DType::kUint64;
    EXPECT_EQ(OutputDType(sum, dtype), expected) << Name(dtype);
    EXPECT_EQ(OutputDType(*FindOp("dot"), dtype), dtype);
  }
}

TEST(RegistryTest, IntegerParametersMustBeValuesOfTheDType) {
  EXPECT_TRUE(Validate(DType::kInt8, 127).ok());
  EXPECT_TRUE(Validate(DType::kInt8, -128).ok());
  EXPECT_TRUE(Validate(DType::kInt8, -0.0).ok());
  EXPECT_TRUE(Validate(DType::kUint64, std::ldexp(1.0, 64) - 2048).ok());
  EXPECT_TRUE(Validate(DType::kInt64, -std::ldexp(1.0, 63)).ok());
  for (const double a : {128.0, -129.0, 0.5, kInf, -kInf, kNan}) {
    EXPECT_EQ(Validate(DType::kInt8, a).code(), absl::StatusCode::kInvalidArgument) << a;
  }
  EXPECT_FALSE(Validate(DType::kUint8, -1).ok());
  EXPECT_FALSE(Validate(DType::kUint8, 256).ok());
  EXPECT_FALSE(Validate(DType::kInt64, std::ldexp(1.0, 63)).ok());
  EXPECT_FALSE(Validate(DType::kUint64, std::ldexp(1.0, 64)).ok());
  EXPECT_EQ(Message(Validate(DType::kInt16, 1.5)),
            "op 'axpy', parameter 'a': 1.5 is not a value of int16 (a whole number from -2^15 to "
            "2^15 - 1)");
}

TEST(RegistryTest, IntegersAreJudgedExactly) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  constexpr uint64_t kBeyond = uint64_t{1} << 63;
  EXPECT_TRUE(Validate(DType::kInt64, kLeast).ok());
  EXPECT_TRUE(Validate(DType::kInt64, kGreatest).ok());
  EXPECT_TRUE(Validate(DType::kInt64, kBeyond - 1).ok());
  EXPECT_FALSE(Validate(DType::kInt64, kBeyond).ok());
  EXPECT_TRUE(Validate(DType::kUint64, std::numeric_limits<uint64_t>::max()).ok());
  EXPECT_FALSE(Validate(DType::kUint64, int64_t{-1}).ok());
  for (const DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32}) {
    const int64_t half = int64_t{1} << (8 * ItemBytes(dtype) - 1);
    EXPECT_TRUE(Validate(dtype, half - 1).ok() && Validate(dtype, -half).ok()) << Name(dtype);
    EXPECT_FALSE(Validate(dtype, half).ok() || Validate(dtype, -half - 1).ok()) << Name(dtype);
    EXPECT_FALSE(Validate(dtype, static_cast<uint64_t>(half)).ok()) << Name(dtype);
  }
  for (const DType dtype : {DType::kUint8, DType::kUint16, DType::kUint32}) {
    const uint64_t beyond = uint64_t{1} << (8 * ItemBytes(dtype));
    EXPECT_TRUE(Validate(dtype, beyond - 1).ok()) << Name(dtype);
    EXPECT_FALSE(Validate(dtype, beyond).ok()) << Name(dtype);
  }
  EXPECT_THAT(Message(Validate(DType::kInt64, kBeyond)), HasSubstr("9223372036854775808"));
}

TEST(RegistryTest, FloatParametersTakeEveryValue) {
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64,
                            DType::kComplex64, DType::kComplex128}) {
    for (const double a : {0.1, 1e300, kInf, kNan}) EXPECT_TRUE(Validate(dtype, a).ok());
  }
}

TEST(RegistryTest, TheNumberOfParametersIsChecked) {
  const std::vector<Scalar> two = {1.0, 2.0};
  EXPECT_EQ(Message(ValidateParams(*FindOp("axpy"), DType::kFloat32, two)),
            "op 'axpy': 2 parameters given; it takes 'a'");
  EXPECT_FALSE(ValidateParams(*FindOp("axpy"), DType::kFloat32, {}).ok());
  EXPECT_THAT(Message(ValidateParams(*FindOp("sum"), DType::kFloat32, two)),
              HasSubstr("it takes none"));
}

}  // namespace
}  // namespace shoal::kernels
