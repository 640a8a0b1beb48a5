#include "kernels/cpu/element_io.h"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/kernels/cpu/arrays.h"

namespace shoal::kernels::cpu {
namespace {

template <class T>
T Stored(DType dtype, const Scalar& scalar) {
  alignas(16) std::array<std::byte, 16> element = {};
  StoreScalar(dtype, scalar, element.data());
  return Load<T>(element.data());
}

TEST(StoreScalarTest, TheNumberAsAnElement) {
  EXPECT_EQ(Stored<int8_t>(DType::kInt8, int64_t{-3}), -3);
  EXPECT_EQ(Stored<uint64_t>(DType::kUint64, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(Stored<int64_t>(DType::kInt64, -0x1p63), INT64_MIN);
  EXPECT_EQ(Stored<float>(DType::kFloat32, 0.1), 0.1F);
  EXPECT_EQ(Stored<double>(DType::kFloat64, int64_t{7}), 7.0);
  EXPECT_EQ(Stored<uint16_t>(DType::kFloat16, 1.0), 0x3c00);
  EXPECT_EQ(Stored<uint8_t>(DType::kBool, 0.5), 1);
  const auto complex = Stored<std::complex<float>>(DType::kComplex64, std::complex<double>(1, -2));
  EXPECT_EQ(complex, std::complex<float>(1, -2));
}

TEST(WidenElementTest, AHalfBecomesAFloat) {
  std::array<std::byte, 16> element = {};
  StoreScalar(DType::kBfloat16, 3.0, element.data());
  WidenElement(DType::kBfloat16, element.data());
  EXPECT_EQ(Load<float>(element.data()), 3.0F);
}

TEST(FillElementsTest, EverySize) {
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    std::array<std::byte, 16> element;
    for (size_t i = 0; i < 16; ++i) element[i] = static_cast<std::byte>(i + 1);
    Bytes out(static_cast<size_t>(size * 33));
    FillElements(element.data(), size, 33, out.data());
    for (int64_t i = 0; i < 33; ++i) {
      EXPECT_EQ(std::memcmp(out.data() + i * size, element.data(), static_cast<size_t>(size)), 0);
    }
  }
}

TEST(GatherBroadcastTest, FromAnyIndexOnAsManyAsAsked) {
  std::vector<int32_t> source(24);
  std::iota(source.begin(), source.end(), 0);
  // (2, 3, 4, 5) of an array of shape (2, 3, 1, 4)... with the last axis turned around by strides.
  const std::vector<BroadcastAxis> axes = {{2, 12}, {3, 4}, {4, 0}, {4, 1}};
  const BroadcastSource from = {reinterpret_cast<const std::byte*>(source.data()), 4, axes};
  const int64_t count = 2 * 3 * 4 * 4;
  std::vector<int32_t> expected;
  for (int32_t i = 0; i < 2; ++i) {
    for (int32_t j = 0; j < 3; ++j) {
      for (int32_t k = 0; k < 4; ++k) {
        for (int32_t l = 0; l < 4; ++l) expected.push_back(i * 12 + j * 4 + l);
      }
    }
  }
  for (int64_t first = 0; first < count; ++first) {
    std::vector<int32_t> out(static_cast<size_t>(count - first));
    GatherBroadcast(from, first, count - first, reinterpret_cast<std::byte*>(out.data()));
    EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin() + first)) << first;
  }
  const std::vector<BroadcastAxis> inner = {{3, 1}, {5, 0}};
  const std::vector<BroadcastAxis> strided = {{4, 1}, {3, 4}};
  std::vector<int32_t> out(12);
  GatherBroadcast({from.data, 4, inner}, 3, 12, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out, (std::vector<int32_t>{0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}));
  GatherBroadcast({from.data, 4, strided}, 0, 12, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out, (std::vector<int32_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
}

}  // namespace
}  // namespace shoal::kernels::cpu
