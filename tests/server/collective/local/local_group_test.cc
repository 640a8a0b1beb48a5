// What the conformance suite cannot see: streams that stall, calls that are stopped, lives that
// end.
#include "server/collective/local/local_group.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "base/units.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"

namespace shoal::collective {
namespace {

using Code = absl::StatusCode;

class Outcome {
 public:
  device::Done MakeDone() {
    return [this](absl::Status status) { promise_.set_value(std::move(status)); };
  }
  Code Wait() { return future_.get().code(); }
  bool IsReady() const {
    return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

 private:
  std::promise<absl::Status> promise_;
  std::future<absl::Status> future_ = promise_.get_future();
};

class LocalGroupTest : public testing::Test {
 protected:
  LocalGroupTest()
      : arena_(*memory::Arena::Create({"arena", 64 * kMiB, true})),
        device_(arena_.get(), {"worker", 1, 64 * kMiB, std::chrono::microseconds(20)}) {
    for (int i = 0; i < 3; ++i) streams_.push_back(*device_.NewStream());
  }

  std::vector<RankBuffers> Ranks(int count) {
    std::vector<RankBuffers> ranks(static_cast<size_t>(count));
    for (size_t i = 0; i < ranks.size(); ++i) ranks[i].stream = streams_[i].get();
    return ranks;
  }
  /// Stalls a stream; the returned Resume lets it go on.
  device::Resume Stall(size_t stream) {
    std::promise<device::Resume> reached;
    streams_[stream]->Pause([&](device::Resume resume) { reached.set_value(std::move(resume)); });
    return reached.get_future().get();
  }

  std::unique_ptr<memory::Arena> arena_;
  device::CpuDevice device_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
};

TEST_F(LocalGroupTest, ACallWaitsForWhatIsQueuedOnEveryStream) {
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

TEST_F(LocalGroupTest, AStreamThatStallsEndsTheCallInTimeAndFreesTheOthers) {
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

TEST_F(LocalGroupTest, AbortEndsCallsThatWaitForStreams) {
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

TEST_F(LocalGroupTest, RanksMayShareAStream) {
  const auto members = MakeLocalGroup({.ranks_per_member = {3}});
  std::vector<RankBuffers> ranks = Ranks(3);
  for (RankBuffers& rank : ranks) rank.stream = streams_[0].get();
  Outcome barrier;
  members[0]->Barrier({}, ranks, barrier.MakeDone());
  EXPECT_EQ(barrier.Wait(), Code::kOk);
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

TEST_F(LocalGroupTest, CallsMayBeMadeFromADone) {
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

// Collectives and transfers over the same streams, begun by different threads: were their pauses
// not taken in one order, this would never end.
TEST_F(LocalGroupTest, CallsOfSeveralMembersNeverLockEachOtherOut) {
  const auto members = MakeLocalGroup({.ranks_per_member = {1, 1, 1}});
  constexpr int kRounds = 300;
  const std::vector<RankBuffers> ranks = Ranks(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (size_t m = 0; m < 3; ++m) {
    threads.emplace_back([&, m] {
      const auto rank = static_cast<int>(m);
      for (int round = 0; round < kRounds; ++round) {
        const Transfer to{rank, (rank + 1) % 3, {}, {}, ranks[m].stream, nullptr};
        const Transfer from{(rank + 2) % 3, rank, {}, {}, nullptr, ranks[m].stream};
        Outcome sent;
        Outcome received;
        Outcome met;
        members[m]->SendRecv({}, {&to, 1}, sent.MakeDone());
        members[m]->Barrier({}, Communicator::Ranks(ranks).subspan(m, 1), met.MakeDone());
        members[m]->SendRecv({}, {&from, 1}, received.MakeDone());
        for (Outcome* const outcome : {&sent, &met, &received}) {
          wrong += outcome->Wait() == Code::kOk ? 0 : 1;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(LocalGroupTest, ALargeCallIsStoppedOnItsWay) {
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
