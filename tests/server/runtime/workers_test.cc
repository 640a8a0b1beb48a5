#include "server/runtime/workers.h"

#include <gtest/gtest.h>

#include "tests/support/arrays.h"
#include "tests/support/details.h"
#include "tests/support/engine.h"

namespace shoal::runtime {
namespace {

using plan::DistributionKind;

class WorkersTest : public ::testing::Test {
 protected:
  support::TestEngine engine_{{.workers = 3, .worker_bytes = 1000, .front_bytes = 500}};
  Workers& workers_ = *engine_->workers;
};

TEST_F(WorkersTest, TheEmptiestIsTheFirstOfThoseWithMostRoom) {
  EXPECT_EQ(workers_.Emptiest(), WorkerId{0});
  const auto first = workers_[WorkerId{0}].device->Allocate(10);
  EXPECT_EQ(workers_.Emptiest(), WorkerId{1});
  const auto second = workers_[WorkerId{1}].device->Allocate(20);
  const auto third = workers_[WorkerId{2}].device->Allocate(30);
  EXPECT_EQ(workers_.Emptiest(), WorkerId{0});
}

TEST_F(WorkersTest, CompletesWhatADistributionLeavesOpen) {
  plan::Distribution block{DistributionKind::kBlock, {}};
  ASSERT_TRUE(workers_.Complete(&block).ok());
  EXPECT_EQ(block.workers, workers_.ids());
  const auto taken = workers_[WorkerId{0}].device->Allocate(10);
  plan::Distribution single{DistributionKind::kSingle, {}};
  ASSERT_TRUE(workers_.Complete(&single).ok());
  EXPECT_EQ(single.workers, std::vector<WorkerId>{WorkerId{1}});
  plan::Distribution given{DistributionKind::kReplicated, {{2}, {0}}};
  ASSERT_TRUE(workers_.Complete(&given).ok());
  EXPECT_EQ(given.workers, (std::vector<WorkerId>{{2}, {0}}));
  for (const int32_t unknown : {-1, 3, INT32_MAX, INT32_MIN}) {
    plan::Distribution wrong{DistributionKind::kBlock, {{0}, {unknown}}};
    const absl::Status status = workers_.Complete(&wrong);
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(support::DetailOf<v1::ResourceInfo>(status)->resource_type(), "worker");
  }
}

TEST_F(WorkersTest, AnArrayThatDoesNotFitLeavesNothingBehind) {
  const auto full = *workers_[WorkerId{2}].device->Allocate(900);
  const auto type = support::Type(kernels::DType::kUint8, {600});
  EXPECT_EQ(workers_.NewArray(type, {DistributionKind::kBlock, workers_.ids()}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(engine_.BytesInUse(), 900);
  const auto array = *workers_.NewArray(type, {DistributionKind::kReplicated, {{0}, {1}}});
  EXPECT_EQ(array->bytes, 600);
  EXPECT_EQ(engine_.BytesInUse(), 900 + 2 * 600);
}

TEST_F(WorkersTest, ZeroSizeArraysHaveAllTheirShards) {
  const auto array = *workers_.NewArray(support::Type(kernels::DType::kFloat64, {2, 0}),
                                        {DistributionKind::kBlock, workers_.ids()});
  EXPECT_EQ(array->shards.size(), 3U);
  EXPECT_EQ(array->bytes, 0);
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

TEST_F(WorkersTest, FrontEndMemoryCountsUntilItsLastOwnerGoes) {
  auto block = *AllocateFrontEnd(*engine_, 400, FrontUse::kBrief);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % 64, 0U);
  EXPECT_EQ(AllocateFrontEnd(*engine_, 101, FrontUse::kBrief).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(AllocateFrontEnd(*engine_, 1, FrontUse::kHeld).ok());
  auto other = block;
  block.reset();
  EXPECT_EQ(engine_.BytesInUse(), 400);
  other.reset();
  EXPECT_EQ(engine_.BytesInUse(), 0);
}

}  // namespace
}  // namespace shoal::runtime
