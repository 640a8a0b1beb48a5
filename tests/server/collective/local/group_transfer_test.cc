#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "server/collective/local/local_group.h"
#include "tests/server/collective/local/group_fixture.h"

namespace shoal::collective {
namespace {

using GroupTransferTest = GroupFixture;

TEST_F(GroupTransferTest, BytesArriveBehindWhatIsQueuedOnBothStreams) {
  const auto members = MakeLocalGroup({.ranks_per_member = {1, 1}});
  std::vector<std::byte> from(8, std::byte{1});
  std::vector<std::byte> to(8);
  const std::vector<RankBuffers> ranks = Ranks(2);
  const Transfer send{0, 1, {from.data(), 8}, {}, ranks[0].stream, nullptr};
  const Transfer receive{0, 1, {}, {to.data(), 8}, nullptr, ranks[1].stream};
  device::Resume resume = Stall(1);
  Outcome sent;
  Outcome received;
  members[1]->SendRecv({}, {&receive, 1}, received.MakeDone());
  members[0]->SendRecv({}, {&send, 1}, sent.MakeDone());
  EXPECT_FALSE(received.IsReady());
  EXPECT_EQ(to[0], std::byte{0});
  std::move(resume)();
  EXPECT_EQ(received.Wait(), Code::kOk);
  EXPECT_EQ(sent.Wait(), Code::kOk);
  EXPECT_EQ(to, from);
}

TEST_F(GroupTransferTest, OverlappingEndsAreRefused) {
  const auto members = MakeLocalGroup({.ranks_per_member = {2}});
  std::vector<std::byte> memory(16);
  const std::vector<RankBuffers> ranks = Ranks(2);
  Transfer transfer{
      0, 1, {memory.data(), 8}, {memory.data() + 4, 8}, ranks[0].stream, ranks[1].stream};
  Outcome refused;
  members[0]->SendRecv({}, {&transfer, 1}, refused.MakeDone());
  EXPECT_EQ(refused.Wait(), Code::kInvalidArgument);
  transfer.recv.data = memory.data();
  Outcome view;
  members[0]->SendRecv({}, {&transfer, 1}, view.MakeDone());
  EXPECT_EQ(view.Wait(), Code::kOk) << "the same memory needs no move";
}

// Collectives and transfers over the same streams, begun by different threads: were their pauses
// not taken in one order, this would never end.
TEST_F(GroupTransferTest, CallsOfSeveralMembersNeverLockEachOtherOut) {
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

}  // namespace
}  // namespace shoal::collective
