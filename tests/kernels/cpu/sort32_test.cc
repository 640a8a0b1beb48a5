#include "kernels/cpu/sort32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/kernels/cpu/arrays.h"

// Run directly, because SortRows chooses this build on few processors only.
namespace shoal::kernels::cpu {
namespace {

template <class T>
void ExpectSorts(size_t count, uint64_t values) {
  std::mt19937_64 random(count);
  std::vector<T> keys(count);
  for (T& key : keys) key = static_cast<T>(random() % values * 0x9e3779b1U);
  std::vector<T> expected = keys;
  std::sort(expected.begin(), expected.end());
  SortWithoutCompressStore(keys.data(), count);
  EXPECT_TRUE(keys == expected) << count << " keys of " << values << " values";
}

TEST(Sort32Test, KeysOfBothSignsAreSorted) {
  for (const int64_t size : kAwkwardSizes) {
    for (const uint64_t values : {uint64_t{1}, uint64_t{7}, uint64_t{1} << 32}) {
      ExpectSorts<uint32_t>(static_cast<size_t>(size), values);
      ExpectSorts<int32_t>(static_cast<size_t>(size), values);
    }
  }
  ExpectSorts<uint32_t>(300'000, uint64_t{1} << 32);
}

}  // namespace
}  // namespace shoal::kernels::cpu
