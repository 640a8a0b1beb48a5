#include "server/collective/local/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "server/collective/local/execute.h"

namespace shoal::collective {
namespace {

using kernels::DType;
using testing::HasSubstr;

/// Memory that the ranks of a test share out.
class PlanTest : public testing::Test {
 protected:
  std::byte* At(int64_t offset) { return memory_.data() + offset; }
  RankBuffers Rank(int64_t send, int64_t send_bytes, int64_t recv, int64_t recv_bytes) {
    return {{At(send), send_bytes}, {At(recv), recv_bytes}, nullptr};
  }
  Plan Make(Operation operation, const std::vector<int64_t>& counts,
            const std::vector<RankBuffers>& ranks) {
    Args args;
    args.dtype = DType::kUint8;
    args.counts = counts;
    return MakePlan(operation, args, ranks);
  }

  alignas(64) std::array<std::byte, 4096> memory_ = {};
};

TEST_F(PlanTest, ShardsThatAreViewsMoveNothing) {
  // Every rank's shard is a view of the root's array.
  const std::vector<RankBuffers> ranks = {Rank(0, 30, 0, 10), Rank(0, 0, 10, 10),
                                          Rank(0, 0, 20, 10)};
  const Plan scatter = Make(Operation::kScatter, {10, 10, 10}, ranks);
  EXPECT_EQ(scatter.MovedBytes(), 0);
  EXPECT_TRUE(CheckOverlaps(scatter, ranks).ok());

  const std::vector<RankBuffers> shared = {Rank(0, 30, 0, 30), Rank(0, 0, 0, 30)};
  const Plan broadcast = Make(Operation::kBroadcast, {30}, shared);
  EXPECT_EQ(broadcast.MovedBytes(), 0);
  EXPECT_TRUE(CheckOverlaps(broadcast, shared).ok());

  const std::vector<RankBuffers> blocks = {Rank(0, 10, 0, 20), Rank(10, 10, 0, 20)};
  const Plan gather = Make(Operation::kAllGather, {10, 10}, blocks);
  EXPECT_EQ(gather.MovedBytes(), 0);
  EXPECT_TRUE(CheckOverlaps(gather, blocks).ok());
}

TEST_F(PlanTest, OnlyWhatIsNotInItsPlaceMoves) {
  const std::vector<RankBuffers> ranks = {Rank(0, 30, 0, 10), Rank(0, 0, 100, 10),
                                          Rank(0, 0, 20, 10)};
  const Plan plan = Make(Operation::kScatter, {10, 10, 10}, ranks);
  EXPECT_EQ(plan.MovedBytes(), 10);
  EXPECT_TRUE(CheckOverlaps(plan, ranks).ok());
  memory_[15] = std::byte{42};
  EXPECT_TRUE(Execute(plan, {}));
  EXPECT_EQ(memory_[105], std::byte{42});
}

TEST_F(PlanTest, WritesOverAnotherRanksMemoryAreFound) {
  const auto check = [&](int64_t second_recv) {
    const std::vector<RankBuffers> ranks = {Rank(0, 20, 100, 10), Rank(0, 0, second_recv, 10)};
    return CheckOverlaps(Make(Operation::kScatter, {10, 10}, ranks), ranks);
  };
  EXPECT_TRUE(check(110).ok());
  EXPECT_TRUE(check(90).ok());
  EXPECT_TRUE(check(10).ok()) << "a view";
  EXPECT_TRUE(check(20).ok());
  for (const int64_t recv : {100, 109, 91}) {
    EXPECT_EQ(check(recv).code(), absl::StatusCode::kInvalidArgument) << recv;
  }
  for (const int64_t recv : {0, 1, 9, 11, 19}) {
    EXPECT_THAT(std::string(check(recv).message()), HasSubstr("rank 1: recv overlaps")) << recv;
  }
}

TEST_F(PlanTest, AReductionMayWriteOverTheRanksOwnInputOnly) {
  const auto check = [&](int64_t first_recv, int64_t second_recv) {
    const std::vector<RankBuffers> ranks = {Rank(0, 64, first_recv, 64),
                                            Rank(64, 64, second_recv, 64)};
    return CheckOverlaps(Make(Operation::kAllReduce, {64}, ranks), ranks);
  };
  EXPECT_TRUE(check(0, 64).ok());
  EXPECT_TRUE(check(0, 256).ok());
  EXPECT_FALSE(check(0, 0).ok());
  EXPECT_FALSE(check(128, 128).ok());
  EXPECT_FALSE(check(32, 256).ok());
}

}  // namespace
}  // namespace shoal::collective
