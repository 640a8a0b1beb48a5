#include "server/collective/local/execute.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace shoal::collective {
namespace {

TEST(ExecuteTest, AStoppedPlanSaysSo) {
  std::vector<std::byte> source(30, std::byte{1});
  std::vector<std::byte> target(30);
  const RankBuffers rank{{source.data(), 30}, {target.data(), 30}, nullptr};
  const Plan plan = MakePlan(Operation::kBroadcast, {}, {&rank, 1});
  const std::atomic<bool> stopped = true;
  EXPECT_FALSE(Execute(plan, {nullptr, 0, &stopped}));
  EXPECT_EQ(target, std::vector<std::byte>(30));
  EXPECT_TRUE(Execute(plan, {}));
  EXPECT_EQ(target, source);
}

TEST(ExecuteTest, LongPlansAreCarriedOutByTheTeam) {
  // Several chunks a step, and ends that are none.
  constexpr int64_t kBytes = 1'000'003;
  std::vector<std::byte> source(kBytes);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + i / 256);
  std::vector<std::vector<std::byte>> targets(3, std::vector<std::byte>(kBytes));
  std::vector<RankBuffers> ranks(3);
  ranks[0].send = {source.data(), kBytes};
  for (size_t i = 0; i < 3; ++i) ranks[i].recv = {targets[i].data(), kBytes};
  const int64_t count = kBytes;
  Args args;
  args.counts = {&count, 1};
  threads::Team team(2);
  EXPECT_TRUE(Execute(MakePlan(Operation::kBroadcast, args, ranks), {&team, 0, nullptr}));
  for (const auto& target : targets) EXPECT_TRUE(target == source);
}

}  // namespace
}  // namespace shoal::collective
