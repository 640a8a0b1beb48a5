#include "shoal/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "shoal/v1/array.pb.h"

namespace shoal {
namespace {

TEST(DtypeTest, IsTheContractsEnumNumberByNumber) {
  const google::protobuf::EnumDescriptor* contract = v1::Dtype_descriptor();
  int seen = 0;
  for (int i = 0; i < contract->value_count(); ++i) {
    const google::protobuf::EnumValueDescriptor* value = contract->value(i);
    const auto dtype = static_cast<Dtype>(value->number());
    if (value->number() == v1::DTYPE_UNSPECIFIED) continue;
    ++seen;
    EXPECT_EQ(absl::StrCat("DTYPE_", absl::AsciiStrToUpper(DtypeName(dtype))), value->name());
    EXPECT_EQ(DtypeByName(DtypeName(dtype)), dtype) << value->name();
  }
  EXPECT_EQ(seen, 15);
}

TEST(DtypeTest, NamesOfOthersAreNotFound) {
  EXPECT_EQ(DtypeByName("float128"), std::nullopt);
  EXPECT_EQ(DtypeByName(""), std::nullopt);
}

TEST(DtypeTest, NumberThatIsNoneIsRefused) {
  for (const int number : {0, 16, 255}) {
    const auto made_up = static_cast<Dtype>(number);
    EXPECT_EQ(ItemBytes(made_up), 0) << number;
    EXPECT_EQ(DtypeName(made_up), "") << number;
    EXPECT_EQ(ByteCount(made_up, {2}).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_DEATH(VisitDtype(made_up, [](auto) { return 0; }), "not one of shoal::Dtype");
  }
}

TEST(DtypeTest, VisitsEachWithItsType) {
  for (const internal::DtypeEntry& entry : internal::kDtypeEntries) {
    VisitDtype(entry.dtype, [&]<typename T>(std::type_identity<T>) {
      EXPECT_EQ(kDtypeOf<T>, entry.dtype) << entry.name;
      EXPECT_EQ(int64_t{sizeof(T)}, ItemBytes(entry.dtype)) << entry.name;
    });
    // NumPy's code ends in the item size.
    EXPECT_EQ(std::string(entry.npy.substr(1)), std::to_string(entry.item_bytes)) << entry.name;
  }
}

TEST(DtypeTest, CppTypesHaveTheSizeOfTheirDtype) {
  EXPECT_EQ(ItemBytes(*kDtypeOf<std::complex<double>>), 16);
  EXPECT_EQ(ItemBytes(*kDtypeOf<Bfloat16>), int64_t{sizeof(Bfloat16)});
  EXPECT_FALSE(kDtypeOf<char*>.has_value());
}

TEST(DtypeTest, HalvesConvertExactly) {
  EXPECT_EQ(ToFloat(Float16{0x0001}), 0x1p-24f);  // the least subnormal
  EXPECT_EQ(ToFloat(Float16{0x03FF}), 0x1.FF8p-15f);
  EXPECT_EQ(ToFloat(Float16{0x0400}), 0x1p-14f);  // the least normal
  EXPECT_EQ(ToFloat(Float16{0x7BFF}), 65504.0f);
  EXPECT_TRUE(std::signbit(ToFloat(Float16{0x8000})));
  EXPECT_TRUE(std::isnan(ToFloat(Float16{0x7E00})));
  EXPECT_TRUE(std::isinf(ToFloat(Float16{0xFC00})));
  EXPECT_EQ(ToFloat(Bfloat16{0xC040}), -3.0f);
}

TEST(ElementCountTest, CountsScalarsAndKeepsZeros) {
  EXPECT_EQ(*ElementCount({}), 1);
  EXPECT_EQ(*ElementCount({3, 0, 5}), 0);
  EXPECT_EQ(*ElementCount({int64_t{1} << 40, 4}), int64_t{1} << 42);
  EXPECT_EQ(*ByteCount(Dtype::kFloat64, {2, 3}), 48);
}

TEST(ElementCountTest, RefusesWhatIsNoShape) {
  const Shape too_deep(33, 1);
  for (const Shape& shape :
       {Shape{-1}, too_deep, Shape{int64_t{1} << 62, 2}, Shape{0, int64_t{1} << 62, 4}}) {
    EXPECT_EQ(ElementCount(shape).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ByteCount(Dtype::kComplex128, {int64_t{1} << 60}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shoal
