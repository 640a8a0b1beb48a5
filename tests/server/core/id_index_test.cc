#include "server/core/id_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace shoal::core {
namespace {

TEST(IdIndexTest, UnknownIdsAreNotFound) {
  IdIndex index;
  EXPECT_EQ(index.Find(1), kNone);
  EXPECT_EQ(index.Find(0), kNone);
  EXPECT_EQ(index.Find(UINT64_MAX), kNone);
}

TEST(IdIndexTest, SecondInsertionIsRefusedAndChangesNothing) {
  IdIndex index;
  EXPECT_TRUE(index.Insert(7, 1));
  EXPECT_FALSE(index.Insert(7, 2));
  EXPECT_EQ(index.Find(7), 1U);
  EXPECT_EQ(index.size(), 1);
}

// The ids that cores make (dense, or in equal steps, with rising generations) and random ones,
// against a sorted map.
TEST(IdIndexTest, AgreesWithASortedMap) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    const uint64_t step = uint64_t{1} << (seed % 12);
    IdIndex index;
    std::map<uint64_t, uint32_t> expected;
    for (uint32_t i = 0; i < 3000; ++i) {
      const uint64_t dense = (random() % 700) * step | (random() % 2 + 1) << 32;
      const uint64_t id = seed % 4 == 0 ? random() % 1000 + 1 : dense;
      if (expected.contains(id)) {
        ASSERT_EQ(index.Find(id), expected[id]);
        index.Erase(id);
        expected.erase(id);
      } else {
        ASSERT_EQ(index.Find(id), kNone);
        ASSERT_TRUE(index.Insert(id, i));
        expected[id] = i;
      }
      ASSERT_EQ(index.size(), static_cast<int64_t>(expected.size()));
    }
    for (const auto& [id, row] : expected) ASSERT_EQ(index.Find(id), row) << "seed " << seed;
  }
}

TEST(IdIndexDeathTest, NoneHasNoPlaceAndTheUnknownCannotGo) {
  IdIndex index;
  EXPECT_DEATH(index.Insert(0, 1), "check failed");
  EXPECT_DEATH(index.Erase(5), "check failed");
}

}  // namespace
}  // namespace shoal::core
