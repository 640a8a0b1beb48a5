#include "shoal/array.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

TEST(ArrayTest, FromCopiesAndKeepsTheShape) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const absl::StatusOr<Array> array = Array::From<float>(values, {2, 3});
  ASSERT_TRUE(array.ok());
  values[0] = 100;
  EXPECT_EQ(array->dtype(), Dtype::kFloat32);
  EXPECT_EQ(array->shape(), (Shape{2, 3}));
  EXPECT_EQ(array->element_count(), 6);
  EXPECT_EQ((*array->As<float>())[0], 1.0F);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data().data()) % 64, 0U);
  EXPECT_FALSE(array->leased());
}

TEST(ArrayTest, FromRefusesAShapeOfAnotherSize) {
  const std::vector<int32_t> values(5);
  EXPECT_EQ(Array::From<int32_t>(values, {2, 3}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ArrayTest, ElementsAreOnlySeenAsWhatTheyAre) {
  Array array = *Array::From<double>({1.5, 2.5});
  EXPECT_TRUE(array.As<double>().ok());
  EXPECT_EQ(array.As<float>().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(array.As<int64_t>().status().code(), absl::StatusCode::kInvalidArgument);
  const Array flags = *Array::From<bool>({true, false});
  EXPECT_TRUE(flags.As<uint8_t>().ok()) << "a bool may be read as the byte that it is";
}

TEST(ArrayTest, CopiesShareAndClonesDoNot) {
  Array array = *Array::From<int32_t>({1, 2, 3});
  const Array copy = array;
  const Array clone = *array.Clone();
  (*array.MutableAs<int32_t>())[0] = 7;
  EXPECT_EQ((*copy.As<int32_t>())[0], 7);
  EXPECT_EQ((*clone.As<int32_t>())[0], 1);
  EXPECT_TRUE(SameBytes(array, copy));
  EXPECT_FALSE(SameBytes(array, clone));
}

TEST(ArrayTest, BorrowedMemoryIsUsedInPlace) {
  std::vector<int16_t> values = {1, 2, 3, 4};
  const auto bytes = absl::MakeSpan(reinterpret_cast<std::byte*>(values.data()), 8);
  Array view = *Array::Borrow(Dtype::kInt16, {4}, bytes);
  (*view.MutableAs<int16_t>())[3] = 9;
  EXPECT_EQ(values[3], 9);

  Array constant = *Array::Borrow(Dtype::kInt16, {4}, absl::Span<const std::byte>(bytes));
  EXPECT_FALSE(constant.writable());
  EXPECT_TRUE(constant.mutable_data().empty());
  EXPECT_EQ(constant.MutableAs<int16_t>().status().code(), absl::StatusCode::kFailedPrecondition);

  const Array odd = *Array::Borrow(Dtype::kInt16, {3}, bytes.subspan(1, 6));
  EXPECT_EQ(odd.As<int16_t>().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(Array::Borrow(Dtype::kInt16, {5}, bytes).ok());
}

TEST(ArrayTest, EmptyAndScalarArraysAreArrays) {
  EXPECT_EQ(Array().element_count(), 0);
  const Array empty = *Array::Create(Dtype::kFloat64, {3, 0});
  EXPECT_EQ(empty.shape(), (Shape{3, 0}));
  EXPECT_EQ(empty.As<double>()->size(), 0U);
  const Array scalar = *Array::From<float>({4.0F}, {});
  EXPECT_EQ(scalar.element_count(), 1);
  EXPECT_TRUE(scalar.Reshape({1, 1}).ok());
  EXPECT_FALSE(scalar.Reshape({2}).ok());
}

TEST(ArrayTest, MoreMemoryThanThereIsIsAnError) {
  EXPECT_EQ(Array::Create(Dtype::kFloat64, {int64_t{1} << 58}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace shoal
