#include "client/cli/npy_layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace shoal::cli {
namespace {

std::vector<std::byte> Counting(int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 251);
  return bytes;
}

// The definition, one element after the other.
std::vector<std::byte> Reference(const Shape& shape, int64_t item, std::vector<std::byte> from) {
  std::vector<std::byte> to(from.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t c = 0; c < static_cast<int64_t>(from.size()) / item; ++c) {
    int64_t f = 0;
    for (size_t axis = shape.size(); axis-- > 0;) f = f * shape[axis] + index[axis];
    std::memcpy(to.data() + c * item, from.data() + f * item, static_cast<size_t>(item));
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return to;
}

TEST(FortranToCTest, EveryRankItemSizeAndRaggedTileIsAsDefined) {
  for (const Shape& shape :
       {Shape{}, Shape{5}, Shape{1, 1}, Shape{2, 3}, Shape{31, 33}, Shape{64, 32}, Shape{1, 100},
        Shape{100, 1}, Shape{3, 4, 5}, Shape{33, 2, 35}, Shape{2, 1, 3, 1, 4},
        Shape{2, 2, 2, 2, 2, 2}, Shape{0, 3}, Shape{3, 0, 4}}) {
    for (const int64_t item : {1, 2, 4, 8, 16}) {
      int64_t count = item;
      for (const int64_t extent : shape) count *= extent;
      const std::vector<std::byte> from = Counting(count);
      std::vector<std::byte> to(from.size(), std::byte{0xEE});
      FortranToC(shape, item, {.from = from, .to = to});
      EXPECT_EQ(to, Reference(shape, item, from)) << shape.size() << " axes, item " << item;
    }
  }
}

std::vector<int> Swapped(Dtype dtype, std::vector<std::byte> bytes) {
  SwapByteOrder(dtype, bytes);
  std::vector<int> values;
  for (const std::byte value : bytes) values.push_back(static_cast<int>(value));
  return values;
}

TEST(SwapByteOrderTest, NumbersTurnAndHalvesOfComplexStayInPlace) {
  std::vector<std::byte> bytes;
  for (int i = 1; i <= 16; ++i) bytes.push_back(static_cast<std::byte>(i));
  using V = std::vector<int>;
  EXPECT_EQ(Swapped(Dtype::kUint8, bytes),
            (V{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(Swapped(Dtype::kBfloat16, bytes),
            (V{2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15}));
  EXPECT_EQ(Swapped(Dtype::kFloat32, bytes),
            (V{4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9, 16, 15, 14, 13}));
  EXPECT_EQ(Swapped(Dtype::kComplex64, bytes), Swapped(Dtype::kFloat32, bytes));
  EXPECT_EQ(Swapped(Dtype::kInt64, bytes),
            (V{8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9}));
  EXPECT_EQ(Swapped(Dtype::kComplex128, bytes), Swapped(Dtype::kInt64, bytes));
  EXPECT_EQ(Swapped(Dtype::kInt64, {}), V{});
}

TEST(NormaliseBoolsTest, WhatIsNotZeroIsOne) {
  std::vector<std::byte> bytes = {std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  NormaliseBools(bytes);
  EXPECT_EQ(bytes,
            (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}}));
}

}  // namespace
}  // namespace shoal::cli
