#include "kernels/cpu/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/cpu/sort_key.h"
#include "kernels/registry.h"
#include "tests/kernels/cpu/sorted.h"

namespace shoal::kernels::cpu {
namespace {

void ExpectSorts(DType dtype, const Bytes& input, int64_t offset) {
  Placed data(input, dtype, offset);
  const auto count = static_cast<int64_t>(input.size()) / ItemBytes(dtype);
  SortRows({dtype, data.data(), 1, count});
  EXPECT_TRUE(IsSortedFormOf(dtype, data.Read(), input)) << Name(dtype) << " x" << count;
  EXPECT_TRUE(data.GuardsHold()) << Name(dtype) << " x" << count;
}

TEST(SortTest, EverySizeAndDTypeIsSortedOnEveryInstructionSet) {
  ForEachInstructionSet([](const std::string& name) {
    SCOPED_TRACE(name);
    for (const DType dtype : kRealTypes) {
      for (const int64_t count : kAwkwardSizes) {
        ExpectSorts(dtype, RandomArray(dtype, count, Fill::kAwkward, 3), count % 7);
      }
    }
  });
}

// Long enough for the rows of 16-bit dtypes that are counted, and just too short.
TEST(SortTest, LongRowsAreSorted) {
  for (const DType dtype : kRealTypes) {
    ExpectSorts(dtype, RandomArray(dtype, 60'000, Fill::kAwkward, 4), 1);
    ExpectSorts(dtype, RandomArray(dtype, 19'999, Fill::kAwkward, 4), 1);
  }
}

TEST(SortTest, EveryPatternOf16BitsIsSorted) {
  std::vector<uint16_t> patterns(65'536);
  std::iota(patterns.begin(), patterns.end(), uint16_t{0});
  std::shuffle(patterns.begin(), patterns.end(), std::mt19937_64(9));
  Bytes once(2 * patterns.size());
  std::memcpy(once.data(), patterns.data(), once.size());
  for (const DType dtype : {DType::kInt16, DType::kUint16, DType::kFloat16, DType::kBfloat16}) {
    ExpectSorts(dtype, once, 0);  // Counted.
    for (std::ptrdiff_t at = 0; at < std::ssize(once); at += 1024) {
      ExpectSorts(dtype, Bytes(once.begin() + at, once.begin() + at + 1024), 0);  // By radix.
    }
  }
}

TEST(SortTest, SortedReversedAndConstantRowsAreSorted) {
  for (const DType dtype : kRealTypes) {
    const auto item = static_cast<std::ptrdiff_t>(ItemBytes(dtype));
    Bytes sorted = RandomArray(dtype, 25'000, Fill::kAwkward, 5);
    SortRows({dtype, sorted.data(), 1, 25'000});
    ExpectSorts(dtype, sorted, 0);
    Bytes reversed;
    Bytes constant;
    for (auto at = sorted.end(); at != sorted.begin(); at -= item) {
      reversed.insert(reversed.end(), at - item, at);
      constant.insert(constant.end(), sorted.begin(), sorted.begin() + item);
    }
    ExpectSorts(dtype, reversed, 0);
    ExpectSorts(dtype, constant, 0);
  }
}

TEST(SortTest, ZerosStandBySignAndNansOfEitherSignLastWithTheirPayloads) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto nan = std::bit_cast<float>(0x7fc00001U);
  const auto negative_nan = std::bit_cast<float>(0xffc00002U);
  std::vector<float> x = {negative_nan, 0.0F, -1.0F, inf, -0.0F, nan, -inf, 1.0F, 0.0F, -0.0F};
  SortRows({DType::kFloat32, x.data(), 1, 10});
  EXPECT_EQ(std::vector<float>(x.begin(), x.begin() + 8),
            (std::vector<float>{-inf, -1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F, inf}));
  EXPECT_TRUE(std::signbit(x[2]) && std::signbit(x[3]));
  EXPECT_FALSE(std::signbit(x[4]) || std::signbit(x[5]));
  EXPECT_EQ(std::bit_cast<uint32_t>(x[8]), 0x7fc00001U);
  EXPECT_EQ(std::bit_cast<uint32_t>(x[9]), 0xffc00002U);
}

TEST(SortTest, RowsAreSortedEachByItself) {
  for (const DType dtype : kRealTypes) {
    for (const int64_t elements : {int64_t{1}, int64_t{7}, int64_t{300}}) {
      const Bytes input = RandomArray(dtype, 40 * elements, Fill::kAwkward, 6);
      Bytes output = input;
      SortRows({dtype, output.data(), 40, elements});
      const auto row_bytes = static_cast<std::ptrdiff_t>(elements * ItemBytes(dtype));
      for (std::ptrdiff_t at = 0; at < 40 * row_bytes; at += row_bytes) {
        const Bytes before(input.begin() + at, input.begin() + at + row_bytes);
        const Bytes after(output.begin() + at, output.begin() + at + row_bytes);
        EXPECT_TRUE(IsSortedFormOf(dtype, after, before)) << Name(dtype);
      }
    }
  }
}

TEST(SortTest, BoolsBecomeZerosAndOnes) {
  std::vector<uint8_t> x = {2, 0, 255, 0, 1};
  SortRows({DType::kBool, x.data(), 1, 5});
  EXPECT_EQ(x, (std::vector<uint8_t>{0, 0, 1, 1, 1}));
}

TEST(SortTest, NoRowsAndNoElementsTouchNothing) {
  for (const DType dtype : kRealTypes) {
    SortRows({dtype, nullptr, 0, 10});
    SortRows({dtype, nullptr, 10, 0});
  }
}

TEST(SortTest, KeysAreOneToOneAndInOrder) {
  using Key = SortKey<DType::kFloat16>;
  for (uint32_t i = 0; i < 65'536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    ASSERT_EQ(Key::FromKey(Key::ToKey(bits)), bits);
  }
  EXPECT_EQ(Key::ToKey(0xfc00), 0) << "-infinity is the least";
  EXPECT_EQ(Key::ToKey(0x8000) + 1, Key::ToKey(0x0000));
  EXPECT_GT(Key::ToKey(0xfe00), Key::ToKey(0x7c00)) << "a negative NaN is above +infinity";
}

TEST(SortDeathTest, ComplexHasNoOrder) {
  std::array<float, 4> x = {};
  EXPECT_DEATH(SortRows({DType::kComplex64, x.data(), 1, 2}), "not a real dtype");
  EXPECT_DEATH(RunSort(*FindOp("sort"), {DType::kComplex64, x.data(), 1, 2}), "Supports");
  EXPECT_DEATH(RunSort(*FindOp("add"), {DType::kFloat32, x.data(), 1, 2}), "kSort");
}

}  // namespace
}  // namespace shoal::kernels::cpu
