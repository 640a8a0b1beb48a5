#include "server/device/cpu/cpu_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/units.h"

namespace shoal::device {
namespace {

TEST(CostTest, GrowsWithTheWorkAndNeverOverflows) {
  const kernels::MapKernel add =
      kernels::OpKernel(*kernels::FindOp("add"), kernels::DType::kFloat32);
  MapWork work{&add, {}};
  work.args.count = 1000;
  const Duration small = EstimatedCost(work);
  work.args.count = 1'000'000;
  EXPECT_GT(EstimatedCost(work), 100 * small);
  work.args.count = INT64_MAX / 4;
  EXPECT_GT(EstimatedCost(work), std::chrono::hours(1));
  EXPECT_GT(EstimatedCopyCost(INT64_MAX), std::chrono::hours(1));
}

TEST(RunCopyTest, LongCopiesAreSharedOut) {
  threads::Team team(2);
  std::vector<std::byte> source(static_cast<size_t>(9 * kMiB + 5));
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i % 251);
  std::vector<std::byte> target(source.size());
  const auto bytes = static_cast<int64_t>(source.size());
  RunCopy({source.data(), bytes}, {target.data(), bytes}, team);
  EXPECT_TRUE(target == source);
  EXPECT_GE(team.helper_count(), 1);
}

TEST(RunWorkTest, ARaisedFlagStopsWorkBeforeItsFirstChunk) {
  threads::Team team(0);
  const std::atomic<bool> cancelled = true;
  std::vector<float> values = {3.0F, 1.0F, 2.0F};
  SortWork work = {.op = kernels::FindOp("sort"), .args = {}};
  work.args = {kernels::DType::kFloat32, values.data(), 1, 3};
  EXPECT_EQ(RunWork(work, &cancelled, {&team, nullptr}).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(values, (std::vector<float>{3.0F, 1.0F, 2.0F}));
}

}  // namespace
}  // namespace shoal::device
