#include "server/plan/distribution.h"

#include <gtest/gtest.h>

namespace shoal::plan {
namespace {

TEST(BlockRangeTest, RemainderGoesToTheFirstParts) {
  EXPECT_EQ(BlockRange(10, 4, 0), (Range{0, 3}));
  EXPECT_EQ(BlockRange(10, 4, 1), (Range{3, 6}));
  EXPECT_EQ(BlockRange(10, 4, 2), (Range{6, 8}));
  EXPECT_EQ(BlockRange(10, 4, 3), (Range{8, 10}));
}

TEST(BlockRangeTest, RangesCoverEverythingOnceInOrder) {
  for (int64_t count : {int64_t{0}, int64_t{1}, int64_t{7}, INT64_MAX}) {
    for (int parts : {1, 2, 3, 7, 64}) {
      int64_t next = 0;
      for (int part = 0; part < parts; ++part) {
        const Range range = BlockRange(count, parts, part);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.size(), 0);
        next = range.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(PlanShardsTest, BlocksFollowRowsNotElements) {
  const Shape shape = *Shape::Create({3, 5});
  const auto shards = PlanShards(shape, {DistributionKind::kBlock, {WorkerId{0}, WorkerId{1}}});
  EXPECT_EQ(shards, (std::vector<ShardPlan>{{WorkerId{0}, {0, 10}}, {WorkerId{1}, {10, 15}}}));
}

TEST(PlanShardsTest, FewerRowsThanWorkersLeavesEmptyShards) {
  const auto shards = PlanShards(
      *Shape::Create({}), {DistributionKind::kBlock, {WorkerId{4}, WorkerId{2}, WorkerId{9}}});
  EXPECT_EQ(shards, (std::vector<ShardPlan>{
                        {WorkerId{4}, {0, 1}}, {WorkerId{2}, {1, 1}}, {WorkerId{9}, {1, 1}}}));
}

TEST(PlanShardsTest, ReplicasAreWhole) {
  const auto shards =
      PlanShards(*Shape::Create({6}), {DistributionKind::kReplicated, {WorkerId{0}, WorkerId{1}}});
  EXPECT_EQ(shards, (std::vector<ShardPlan>{{WorkerId{0}, {0, 6}}, {WorkerId{1}, {0, 6}}}));
}

}  // namespace
}  // namespace shoal::plan
