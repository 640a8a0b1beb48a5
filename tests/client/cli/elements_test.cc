#include "client/cli/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

namespace shoal::cli {
namespace {

template <typename T>
Array Of(std::initializer_list<T> values) {
  return *Array::From<T>(absl::Span<const T>(values.begin(), values.size()));
}

TEST(ElementTextTest, EveryDtypeReadsBack) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ArrayPreview(Of<bool>({true, false})), "[true false]");
  EXPECT_EQ(ArrayPreview(Of<int8_t>({-128, 65})), "[-128 65]");
  EXPECT_EQ(ArrayPreview(Of<uint8_t>({255, 65})), "[255 65]");
  EXPECT_EQ(ArrayPreview(Of<int16_t>({-5})), "[-5]");
  EXPECT_EQ(ArrayPreview(Of<uint16_t>({65535})), "[65535]");
  EXPECT_EQ(ArrayPreview(Of<int32_t>({INT32_MIN})), "[-2147483648]");
  EXPECT_EQ(ArrayPreview(Of<uint32_t>({UINT32_MAX})), "[4294967295]");
  EXPECT_EQ(ArrayPreview(Of<int64_t>({INT64_MIN})), "[-9223372036854775808]");
  EXPECT_EQ(ArrayPreview(Of<uint64_t>({UINT64_MAX})), "[18446744073709551615]");
  EXPECT_EQ(ArrayPreview(Of<float>({0.1f, -0.0f, 1e30f})), "[0.1 -0 1e+30]");
  EXPECT_EQ(ArrayPreview(Of<double>({0.1, inf, -inf, std::nan("")})), "[0.1 inf -inf nan]");
  EXPECT_EQ(ArrayPreview(Of<std::complex<float>>({{1, -2}})), "[(1-2j)]");
  EXPECT_EQ(ArrayPreview(Of<std::complex<double>>({{0.5, 3}})), "[(0.5+3j)]");
  EXPECT_EQ(ArrayPreview(Of<Float16>({{0x3C00}, {0xC000}, {0x7C00}})), "[1 -2 inf]");
  EXPECT_EQ(ArrayPreview(Of<Bfloat16>({{0x3F80}, {0xC000}})), "[1 -2]");
}

TEST(ArrayPreviewTest, ScalarsEmptyAndLongArrays) {
  const std::vector<int32_t> one = {7};
  EXPECT_EQ(ArrayPreview(*Array::From<int32_t>(one, {})), "7");
  EXPECT_EQ(ArrayPreview(*Array::Create(Dtype::kFloat64, {0, 3})), "[]");
  std::vector<int32_t> many(16);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_EQ(ArrayPreview(*Array::From<int32_t>(many)), "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]");
  many.push_back(16);
  EXPECT_EQ(ArrayPreview(*Array::From<int32_t>(many)), "[0 1 2 3 ... 13 14 15 16]");
}

}  // namespace
}  // namespace shoal::cli
