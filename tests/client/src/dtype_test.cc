#include "shoal/dtype.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(DtypeTest, NamesAreFoundAgain) {
  for (int number = 1; number <= 15; ++number) {
    const auto dtype = static_cast<Dtype>(number);
    EXPECT_EQ(DtypeByName(DtypeName(dtype)), dtype);
    EXPECT_GE(ItemBytes(dtype), 1);
  }
  EXPECT_EQ(DtypeByName("float128"), std::nullopt);
  EXPECT_EQ(DtypeByName(""), std::nullopt);
}

TEST(DtypeTest, CppTypesHaveTheSizeOfTheirDtype) {
  EXPECT_EQ(ItemBytes(*kDtypeOf<std::complex<double>>), 16);
  EXPECT_EQ(ItemBytes(*kDtypeOf<Bfloat16>), int64_t{sizeof(Bfloat16)});
  EXPECT_FALSE(kDtypeOf<char*>.has_value());
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
