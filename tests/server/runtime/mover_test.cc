#include "server/runtime/mover.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "server/collective/local/local_group.h"
#include "server/runtime/operand.h"
#include "tests/support/arrays.h"
#include "tests/support/bytes.h"
#include "tests/support/engine.h"
#include "tests/support/gate.h"
#include "tests/support/inbox.h"

namespace shoal::runtime {
namespace {

using plan::Distribution;
using plan::DistributionKind;

class MoverTest : public ::testing::Test {
 protected:
  std::shared_ptr<StoredArray> Make(int64_t count, const Distribution& distribution) {
    return *engine_->workers->NewArray(support::Type(kernels::DType::kInt16, {count}),
                                       distribution);
  }

  void Fill(StoredArray& array, const std::string& bytes) {
    for (const Shard& shard : array.shards) {
      support::WriteBytes(bytes.substr(static_cast<size_t>(shard.elements.begin * 2),
                                       static_cast<size_t>(shard.elements.size() * 2)),
                          support::ShardOperand(array, shard));
    }
  }

  void ExpectHolds(const StoredArray& array, const std::string& bytes) {
    for (const Shard& shard : array.shards) {
      const auto size = static_cast<size_t>(shard.elements.size() * 2);
      EXPECT_EQ(support::ReadBytes(support::ShardOperand(array, shard)),
                bytes.substr(static_cast<size_t>(shard.elements.begin * 2), size));
    }
  }

  device::Done Tell() {
    return [this](const absl::Status& status) { ends_.Put(status); };
  }

  support::TestEngine engine_{{.workers = 3}};
  Mover& mover_ = *engine_->mover;
  support::Inbox<absl::Status> ends_;
};

/// Elements of `target` that their worker does not have in `source`, counted one by one.
int64_t NaiveMovedBytes(const StoredArray& source, const StoredArray& target) {
  int64_t bytes = 0;
  for (const Shard& to : target.shards) {
    for (int64_t i = to.elements.begin; i < to.elements.end; ++i) {
      bool held = false;
      for (const Shard& from : source.shards) {
        held |= from.worker == to.worker && from.elements.begin <= i && i < from.elements.end;
      }
      if (!held) bytes += 2;
    }
  }
  return bytes;
}

TEST_F(MoverTest, CopiesBetweenAnyTwoLayouts) {
  const std::vector<Distribution> layouts = {
      {DistributionKind::kBlock, {{0}, {1}, {2}}}, {DistributionKind::kBlock, {{2}, {0}}},
      {DistributionKind::kSingle, {{0}}},          {DistributionKind::kSingle, {{2}}},
      {DistributionKind::kReplicated, {{1}, {2}}}, {DistributionKind::kReplicated, {{0}, {1}, {2}}},
  };
  for (const int64_t count : {0, 1, 2, 3, 100}) {
    const std::string bytes = support::RandomBytes(static_cast<size_t>(count * 2), 5);
    for (const Distribution& from : layouts) {
      for (const Distribution& to : layouts) {
        const auto source = Make(count, from);
        const auto target = Make(count, to);
        Fill(*source, bytes);
        mover_.Copy(*source, target.get(), Tell());
        ASSERT_TRUE(ends_.Take().ok());
        ExpectHolds(*target, bytes);
        EXPECT_EQ(Mover::MovedBytes(*source, *target), NaiveMovedBytes(*source, *target));
      }
    }
  }
}

TEST_F(MoverTest, WithinOneWorkerTheGroupIsNotAsked) {
  auto group = std::move(collective::MakeLocalGroup({.ranks_per_member = {3}}).front());
  group->Abort();
  Mover mover(engine_->workers.get(), std::move(group));
  const Distribution here{DistributionKind::kSingle, {{1}}};
  const std::string bytes = support::RandomBytes(200, 8);
  const auto source = Make(100, here);
  const auto target = Make(100, here);
  Fill(*source, bytes);
  mover.Copy(*source, target.get(), Tell());
  ASSERT_TRUE(ends_.Take().ok());
  ExpectHolds(*target, bytes);
  const auto elsewhere = Make(100, {DistributionKind::kSingle, {{2}}});
  mover.Copy(*source, elsewhere.get(), Tell());
  EXPECT_EQ(ends_.Take().code(), absl::StatusCode::kAborted);
}

TEST_F(MoverTest, ReplicatesFromTheFirst) {
  for (const int64_t count : {0, 1, 1000}) {
    const std::string bytes = support::RandomBytes(static_cast<size_t>(count * 2), 6);
    const auto array = Make(count, {DistributionKind::kReplicated, {{2}, {0}, {1}}});
    support::WriteBytes(bytes, ReplicaOperand(*array, 0, array));
    mover_.Replicate(array.get(), Tell());
    ASSERT_TRUE(ends_.Take().ok());
    ExpectHolds(*array, bytes);
  }
}

TEST_F(MoverTest, TheEndOfOneMoveMayOrderTheNext) {
  const Distribution all{DistributionKind::kReplicated, engine_->workers->ids()};
  const auto first = Make(10, all);
  const auto second = Make(10, all);
  const std::string bytes = support::RandomBytes(20, 7);
  support::WriteBytes(bytes, ReplicaOperand(*second, 0, second));
  mover_.Replicate(first.get(), [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    mover_.Replicate(second.get(), Tell());
  });
  ASSERT_TRUE(ends_.Take().ok());
  ExpectHolds(*second, bytes);
}

// What waits on a stream while a move holds it runs when the move lets go: on the thread that
// ordered the move, from within its order.
TEST_F(MoverTest, WorkThatAMoveLetsGoMayOrderAnother) {
  const Distribution all{DistributionKind::kReplicated, engine_->workers->ids()};
  const auto first = Make(10, all);
  const auto second = Make(10, all);
  device::Stream& stream = *(*engine_->workers)[WorkerId{1}].stream;
  support::Halt halt(engine_.get(), WorkerId{1});
  mover_.Replicate(first.get(), Tell());
  stream.Copy({}, {}, [&](const absl::Status&) { mover_.Replicate(second.get(), Tell()); });
  halt.Resume();
  EXPECT_TRUE(ends_.Take().ok());
  EXPECT_TRUE(ends_.Take().ok());
}

TEST_F(MoverTest, ThreadsOrderMovesSideBySide) {
  constexpr int kMoves = 40;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int move = 0; move < kMoves; ++move) {
        const std::string bytes = support::RandomBytes(600, static_cast<uint64_t>(i * 100 + move));
        const auto source = Make(300, {DistributionKind::kBlock, engine_->workers->ids()});
        const auto target = Make(300, {DistributionKind::kReplicated, engine_->workers->ids()});
        Fill(*source, bytes);
        support::Inbox<absl::Status> end;
        mover_.Copy(*source, target.get(), [&](const absl::Status& status) { end.Put(status); });
        EXPECT_TRUE(end.Take().ok());
        ExpectHolds(*target, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

}  // namespace
}  // namespace shoal::runtime
