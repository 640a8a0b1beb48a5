// A scheduler core and fifty worker cores on virtual time, with faults. A failure names its seed;
// SHOAL_SIMULATION_SEED=<seed> runs that one alone.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/simulation/virtual_cluster.h"

namespace shoal::simulation {
namespace {

using scheduler::Outcome;

constexpr uint64_t kSeeds = 200;

TEST(ClusterSimulationTest, EveryTaskEndsOnceWhateverHappens) {
  uint64_t first = 1;
  uint64_t last = kSeeds;
  if (const char* given = std::getenv("SHOAL_SIMULATION_SEED"); given != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(given, &first)) << given;
    last = first;
  }
  int64_t tasks = 0;
  int64_t actions = 0;
  int64_t outcomes[static_cast<size_t>(Outcome::kShardLost) + 1] = {};
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(absl::StrCat("run again with SHOAL_SIMULATION_SEED=", seed));
    VirtualCluster cluster({.seed = seed});
    cluster.Run();
    tasks += cluster.ledger().size();
    actions += cluster.log_size();
    for (size_t i = 0; i < std::size(outcomes); ++i) {
      outcomes[i] += cluster.ledger().CountOf(static_cast<Outcome>(i));
    }
    if (HasFailure()) return;
  }
  std::printf("%lld tasks, %lld logged actions; tasks by outcome:", static_cast<long long>(tasks),
              static_cast<long long>(actions));
  for (const int64_t count : outcomes) std::printf(" %lld", static_cast<long long>(count));
  std::printf("\n");
  if (last == first) return;
  // A simulation that never gets into trouble proves nothing.
  for (const Outcome outcome :
       {Outcome::kOk, Outcome::kFailed, Outcome::kCancelled, Outcome::kDeadlineExceeded,
        Outcome::kQueueFull, Outcome::kWorkerLost, Outcome::kShardLost}) {
    EXPECT_GT(outcomes[static_cast<size_t>(outcome)], 0) << static_cast<int>(outcome);
  }
}

TEST(ClusterSimulationTest, SameSeedGivesTheSameActions) {
  std::set<uint64_t> hashes;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    VirtualCluster one({.seed = seed});
    VirtualCluster other({.seed = seed});
    one.Run();
    other.Run();
    EXPECT_EQ(one.log_hash(), other.log_hash()) << "seed " << seed;
    EXPECT_EQ(one.log_size(), other.log_size()) << "seed " << seed;
    hashes.insert(one.log_hash());
  }
  EXPECT_EQ(hashes.size(), 5U) << "different seeds, different runs";
}

TEST(ClusterSimulationTest, OneWorkerAloneCarriesEverythingInTheEnd) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    VirtualCluster cluster({.seed = seed, .workers = 1, .tasks = 200});
    cluster.Run();
  }
}

}  // namespace
}  // namespace shoal::simulation
