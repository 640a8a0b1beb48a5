#include "server/runtime/leases.h"

#include <gtest/gtest.h>

#include <set>

#include "base/units.h"
#include "tests/support/details.h"

namespace shoal::runtime {
namespace {

class LeasesTest : public ::testing::Test {
 protected:
  absl::Status Resolve(const plan::LeasePlace& place, int64_t bytes, int64_t item_bytes) {
    return leases_.Resolve(place, bytes, item_bytes).status();
  }

  memory::Budget budget_{"the front end", kMiB};
  Leases leases_{&budget_, /*lease_bytes_max=*/256 * kKiB};
};

TEST_F(LeasesTest, GivesWhatWasAskedForWithinItsLimits) {
  EXPECT_EQ(leases_.Acquire(0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(leases_.Acquire(256 * kKiB + 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(leases_.Acquire(UINT64_MAX).status().code(), absl::StatusCode::kInvalidArgument);
  std::vector<std::shared_ptr<const Lease>> held;
  for (int i = 0; i < 4; ++i) held.push_back(*leases_.Acquire(256 * kKiB));
  EXPECT_EQ(leases_.Acquire(1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(leases_.count(), 4);
  leases_.Release(held.back()->id);
  held.pop_back();
  EXPECT_TRUE(leases_.Acquire(1).ok());
}

TEST_F(LeasesTest, IdsAndSecretsDiffer) {
  std::set<uint64_t> ids;
  std::set<uint64_t> tokens;
  for (int i = 0; i < 20; ++i) {
    const auto lease = *leases_.Acquire(1);
    ids.insert(lease->id.value);
    tokens.insert(lease->token);
    leases_.Release(lease->id);
  }
  EXPECT_EQ(ids.size(), 20U);
  EXPECT_EQ(tokens.size(), 20U);
}

TEST_F(LeasesTest, ResolvesOnlyWithTheSecretAndWithinBounds) {
  const auto lease = *leases_.Acquire(4096);
  const plan::LeasePlace place{lease->id, lease->token, 64};
  EXPECT_EQ(leases_.Resolve(place, 16, 8)->data, lease->region.data() + 64);
  const auto at = [&](int64_t offset) { return plan::LeasePlace{lease->id, lease->token, offset}; };
  EXPECT_TRUE(Resolve(at(0), 4096, 1).ok());
  EXPECT_TRUE(Resolve(at(4096), 0, 8).ok());

  EXPECT_EQ(Resolve({lease->id, lease->token + 1, 0}, 1, 1).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Resolve({LeaseId{99}, lease->token, 0}, 1, 1).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Resolve({}, 1, 1).code(), absl::StatusCode::kNotFound);
  for (const auto& [offset, bytes] : std::vector<std::pair<int64_t, int64_t>>{{0, 4097},
                                                                              {4096, 1},
                                                                              {-8, 16},
                                                                              {INT64_MAX, 1},
                                                                              {INT64_MAX - 7, 8},
                                                                              {8, INT64_MAX},
                                                                              {INT64_MIN, 8}}) {
    EXPECT_EQ(Resolve(at(offset), bytes, 1).code(), absl::StatusCode::kOutOfRange) << offset;
  }
}

TEST_F(LeasesTest, AskForTheElementsAlignment) {
  const auto lease = *leases_.Acquire(4096);
  const auto at = [&](int64_t offset) { return plan::LeasePlace{lease->id, lease->token, offset}; };
  EXPECT_TRUE(Resolve(at(3), 1, 1).ok());
  EXPECT_EQ(Resolve(at(3), 2, 2).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Resolve(at(4), 8, 8).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Resolve(at(8), 16, 16).ok());  // complex128 aligns as its half.
}

TEST_F(LeasesTest, AReleasedLeaseStaysMappedForWhoUsesIt) {
  auto lease = *leases_.Acquire(4096);
  LeasedSpan span = *leases_.Resolve({lease->id, lease->token, 0}, 4096, 1);
  leases_.Release(lease->id);
  leases_.Release(lease->id);  // Legal, and nothing.
  EXPECT_EQ(Resolve({lease->id, lease->token, 0}, 1, 1).code(), absl::StatusCode::kNotFound);
  lease.reset();
  span.data[4095] = std::byte{7};
  EXPECT_EQ(budget_.used_bytes(), 4096);
  span = LeasedSpan();
  EXPECT_EQ(budget_.used_bytes(), 0);
}

}  // namespace
}  // namespace shoal::runtime
