// What the conformance suite cannot see: streams that stall, calls that are stopped.
#include "server/collective/local/group.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/server/collective/local/group_fixture.h"

namespace shoal::collective {
namespace {

using GroupTest = GroupFixture;

TEST_F(GroupTest, ACallWaitsForWhatIsQueuedOnEveryStream) {
  const auto members = MakeLocalGroup({.ranks_per_member = {3}});
  device::Resume resume = Stall(1);
  Outcome barrier;
  members[0]->Barrier({}, Ranks(3), barrier.MakeDone());
  EXPECT_FALSE(barrier.IsReady());
  Outcome behind;
  streams_[0]->Copy({}, {}, behind.MakeDone());
  EXPECT_FALSE(behind.IsReady()) << "what comes later on a stream waits for the call";
  std::move(resume)();
  EXPECT_EQ(barrier.Wait(), Code::kOk);
  EXPECT_EQ(behind.Wait(), Code::kOk);
}

TEST_F(GroupTest, AStreamThatStallsEndsTheCallInTimeAndFreesTheOthers) {
  const auto members = MakeLocalGroup({.ranks_per_member = {3}});
  device::Resume resume = Stall(1);
  Outcome barrier;
  Args args;
  args.timeout = std::chrono::milliseconds(10);
  members[0]->Barrier(args, Ranks(3), barrier.MakeDone());
  EXPECT_EQ(barrier.Wait(), Code::kDeadlineExceeded);
  Outcome behind;
  streams_[0]->Copy({}, {}, behind.MakeDone());
  EXPECT_EQ(behind.Wait(), Code::kOk);
  Outcome later;
  members[0]->Barrier({}, Ranks(3), later.MakeDone());
  EXPECT_EQ(later.Wait(), Code::kDeadlineExceeded);

  std::move(resume)();
  Outcome last;
  streams_[1]->Copy({}, {}, last.MakeDone());
  EXPECT_EQ(last.Wait(), Code::kOk) << "the stalled stream passes the dead call, too";
}

TEST_F(GroupTest, ADoneMayDestroyTheLastMember) {
  auto members = MakeLocalGroup({.ranks_per_member = {1, 1}});
  const std::vector<RankBuffers> ranks = Ranks(1);
  Args args;
  args.timeout = std::chrono::milliseconds(10);
  std::promise<Code> told;
  // The other member never comes, so the watchdog ends the call, and the group with it.
  members[0]->Barrier(args, ranks, [&](const absl::Status& status) {
    members.clear();
    told.set_value(status.code());
  });
  EXPECT_EQ(told.get_future().get(), Code::kDeadlineExceeded);
}

TEST_F(GroupTest, AbortEndsCallsThatWaitForStreams) {
  const auto members = MakeLocalGroup({.ranks_per_member = {1, 2}});
  device::Resume resume = Stall(2);
  const std::vector<RankBuffers> ranks = Ranks(3);
  Outcome first;
  Outcome second;
  members[0]->Barrier({}, Communicator::Ranks(ranks).subspan(0, 1), first.MakeDone());
  members[1]->Barrier({}, Communicator::Ranks(ranks).subspan(1, 2), second.MakeDone());
  EXPECT_FALSE(first.IsReady());
  members[1]->Abort();
  EXPECT_EQ(first.Wait(), Code::kUnavailable);
  EXPECT_EQ(second.Wait(), Code::kAborted);
  std::move(resume)();
}

TEST_F(GroupTest, RanksMayShareAStream) {
  const auto members = MakeLocalGroup({.ranks_per_member = {3}});
  std::vector<RankBuffers> ranks = Ranks(3);
  for (RankBuffers& rank : ranks) rank.stream = streams_[0].get();
  Outcome barrier;
  members[0]->Barrier({}, ranks, barrier.MakeDone());
  EXPECT_EQ(barrier.Wait(), Code::kOk);
}

TEST_F(GroupTest, CallsMayBeMadeFromADone) {
  const auto members = MakeLocalGroup({.ranks_per_member = {3}});
  const std::vector<RankBuffers> ranks = Ranks(3);
  Outcome last;
  int left = 1000;
  std::function<void(absl::Status)> again = [&](absl::Status status) {
    if (--left == 0 || !status.ok()) {
      last.MakeDone()(status);
    } else {
      members[0]->Barrier({}, ranks, again);
    }
  };
  members[0]->Barrier({}, ranks, again);
  EXPECT_EQ(last.Wait(), Code::kOk);
}

TEST_F(GroupTest, ALargeCallIsStoppedOnItsWay) {
  threads::Team team(2);
  LocalGroupOptions options;
  options.ranks_per_member = {2};
  options.team = &team;
  options.inline_bytes_max = 0;
  const auto members = MakeLocalGroup(options);
  const device::Buffer from = *device_.Allocate(16 * kMiB);
  const device::Buffer to = *device_.Allocate(16 * kMiB);
  std::vector<RankBuffers> ranks = Ranks(2);
  ranks[0].send = from.span();
  ranks[0].recv = from.span();
  ranks[1].recv = to.span();
  const int64_t count = 16 * kMiB;
  Args args;
  args.counts = {&count, 1};
  Outcome call;
  members[0]->Broadcast(args, ranks, call.MakeDone());
  members[0]->Abort();
  const Code code = call.Wait();
  EXPECT_TRUE(code == Code::kAborted || code == Code::kOk) << "unless it was faster";
  Outcome later;
  members[0]->Broadcast(args, ranks, later.MakeDone());
  EXPECT_EQ(later.Wait(), Code::kAborted);
}

}  // namespace
}  // namespace shoal::collective
