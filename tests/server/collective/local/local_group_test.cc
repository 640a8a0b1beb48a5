#include "server/collective/local/local_group.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/server/collective/local/group_fixture.h"

namespace shoal::collective {
namespace {

using LocalGroupTest = GroupFixture;

TEST_F(LocalGroupTest, MembersOwnTheirRanksInOrder) {
  const auto members = MakeLocalGroup({.ranks_per_member = {2, 1, 3}});
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0]->LocalRanks(), (std::vector<int>{0, 1}));
  EXPECT_EQ(members[1]->LocalRanks(), (std::vector<int>{2}));
  EXPECT_EQ(members[2]->LocalRanks(), (std::vector<int>{3, 4, 5}));
  for (const auto& member : members) EXPECT_EQ(member->Size(), 6);
}

TEST_F(LocalGroupTest, AMemberThatLeavesIsMissed) {
  auto members = MakeLocalGroup({.ranks_per_member = {1, 1}});
  const std::vector<RankBuffers> ranks = Ranks(2);
  Outcome pending;
  members[0]->Barrier({}, Communicator::Ranks(ranks).subspan(0, 1), pending.MakeDone());
  members[1].reset();
  EXPECT_EQ(pending.Wait(), Code::kUnavailable);
}

TEST_F(LocalGroupTest, ASoleMemberMayGoAtAnyTime) {
  auto members = MakeLocalGroup({.ranks_per_member = {2}});
  Outcome barrier;
  device::Resume resume = Stall(0);
  members[0]->Barrier({}, Ranks(2), barrier.MakeDone());
  members.clear();
  EXPECT_EQ(barrier.Wait(), Code::kAborted);
  std::move(resume)();
}

}  // namespace
}  // namespace shoal::collective
