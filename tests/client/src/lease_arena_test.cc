#include "client/src/lease_arena.h"

#include <gtest/gtest.h>

#include "base/units.h"
#include "tests/client/support/fake_leases.h"
#include "tests/client/support/fixture.h"
#include "tests/support/eventually.h"

namespace shoal::internal {
namespace {

class LeaseArenaTest : public ::testing::Test {
 protected:
  LeaseArenaTest()
      : path_(testing::SocketPath("arena")),
        leases_(path_, 64 * kMiB),
        arena_(*LeaseArena::Connect({path_, 64 * kMiB, 24 * kMiB})) {}

  StorageRef Allocate(int64_t bytes) {
    absl::StatusOr<StorageRef> storage = arena_->Allocate(bytes);
    EXPECT_TRUE(storage.ok()) << storage.status();
    return storage.ok() ? *storage : nullptr;
  }

  const std::string path_;
  testing::FakeLeases leases_;
  std::shared_ptr<LeaseArena> arena_;
};

TEST_F(LeaseArenaTest, BothSidesSeeTheSameBytes) {
  const StorageRef a = Allocate(100);
  const StorageRef b = Allocate(5 * kMiB);
  for (const StorageRef& storage : {a, b}) {
    storage->data()[99] = std::byte{42};
    const LeasePlace* place = arena_->PlaceOf(storage);
    ASSERT_NE(place, nullptr);
    const std::byte* theirs = leases_.Find(place->lease_id, place->token, place->offset, 100);
    ASSERT_NE(theirs, nullptr);
    EXPECT_EQ(theirs[99], std::byte{42});
    EXPECT_EQ(leases_.Find(place->lease_id, place->token + 1, place->offset, 1), nullptr);
  }
}

TEST_F(LeaseArenaTest, SmallArraysShareALeaseAndLargeOnesDoNot) {
  const StorageRef a = Allocate(100);
  const StorageRef b = Allocate(kMiB);
  EXPECT_EQ(arena_->lease_count(), 1);
  EXPECT_EQ(arena_->PlaceOf(a)->lease_id, arena_->PlaceOf(b)->lease_id);
  const StorageRef c = Allocate(4 * kMiB);
  const StorageRef d = Allocate(4 * kMiB);
  EXPECT_EQ(arena_->lease_count(), 3);
}

TEST_F(LeaseArenaTest, ALargeLeaseIsUsedAgain) {
  const std::byte* first = Allocate(8 * kMiB)->data();
  EXPECT_EQ(Allocate(8 * kMiB - 5000)->data(), first);
  EXPECT_EQ(leases_.granted_count(), 1);
}

TEST_F(LeaseArenaTest, IdleLeasesAboveTheLimitGoBack) {
  {
    std::vector<StorageRef> storages;
    for (int i = 0; i < 6; ++i) storages.push_back(Allocate(8 * kMiB));
    EXPECT_EQ(leases_.held_count(), 6);
  }
  EXPECT_EQ(leases_.held_count(), 3);
  EXPECT_EQ(arena_->lease_count(), 3);
}

TEST_F(LeaseArenaTest, MemoryThatTheServerMayStillWriteIsNotLentAgain) {
  StorageRef storage = Allocate(8 * kMiB);
  const uint64_t lease = storage->place()->lease_id;
  arena_->Distrust(storage);
  storage.reset();
  EXPECT_EQ(leases_.held_count(), 0);
  EXPECT_NE(Allocate(8 * kMiB)->place()->lease_id, lease);
}

TEST_F(LeaseArenaTest, MoreThanALeaseHoldsIsRefused) {
  EXPECT_EQ(arena_->Allocate(64 * kMiB + 1).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(LeaseArenaTest, WhenTheServerGoesTheMemoryStays) {
  const StorageRef storage = Allocate(8 * kMiB);
  EXPECT_TRUE(arena_->alive());
  leases_.DropAll();
  ASSERT_TRUE(support::Eventually([this] { return !arena_->alive(); }));
  EXPECT_EQ(arena_->PlaceOf(storage), nullptr);
  EXPECT_EQ(arena_->Allocate(8 * kMiB).status().code(), absl::StatusCode::kUnavailable);
  storage->data()[8 * kMiB - 1] = std::byte{1};
}

TEST_F(LeaseArenaTest, AnotherArenasStorageIsNotOurs) {
  const auto other = *LeaseArena::Connect({path_, 64 * kMiB, 0});
  EXPECT_EQ(other->PlaceOf(Allocate(100)), nullptr);
  EXPECT_EQ(other->PlaceOf(nullptr), nullptr);
}

TEST(LeaseArenaConnectTest, NobodyThereIsUnavailable) {
  EXPECT_EQ(LeaseArena::Connect({testing::SocketPath("none"), 1, 1}).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace shoal::internal
