#include "server/scheduler/least_load.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

#include "server/scheduler/events.h"

namespace shoal::scheduler {
namespace {

TEST(LeastLoadTest, NobodyIsChosenBeforeSomebodyIsOpen) {
  LeastLoad policy;
  EXPECT_EQ(policy.Choose({}), kAnyWorker);
  policy.Update(WorkerId{5}, {.open = false, .free_bytes = 10});
  EXPECT_EQ(policy.Choose({}), kAnyWorker);
}

TEST(LeastLoadTest, AmongEqualsTheLowestIdIsChosen) {
  LeastLoad policy;
  for (const int32_t worker : {9, 3, 7}) policy.Update(WorkerId{worker}, {.open = true});
  EXPECT_EQ(policy.Choose({}), WorkerId{3});
}

TEST(LeastLoadTest, LessLoadedWorkerWithoutTheMemoryIsPassed) {
  LeastLoad policy;
  policy.Update(WorkerId{0}, {.open = true, .work = Duration{1}, .free_bytes = 10});
  policy.Update(WorkerId{1}, {.open = true, .work = Duration{9}, .free_bytes = 100});
  policy.Update(WorkerId{2}, {.open = true, .work = Duration{5}, .free_bytes = 100});
  EXPECT_EQ(policy.Choose({.reserve_bytes = 50}), WorkerId{2});
  EXPECT_EQ(policy.Choose({.reserve_bytes = 101}), kAnyWorker);
}

TEST(LeastLoadTest, PieceWithoutMemoryGoesToAnOverdrawnWorker) {
  LeastLoad policy;
  policy.Update(WorkerId{0}, {.open = true, .free_bytes = -5});
  EXPECT_EQ(policy.Choose({.reserve_bytes = 0}), WorkerId{0});
  EXPECT_EQ(policy.Choose({.reserve_bytes = 1}), kAnyWorker);
}

TEST(LeastLoadTest, AgreesWithAScanOverAllWorkers) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](uint32_t below) { return static_cast<int32_t>(random() % below); };
    LeastLoad policy;
    std::map<int32_t, WorkerLoad> loads;
    for (int step = 0; step < 500; ++step) {
      const int32_t worker = draw(1 + seed * 3);
      loads[worker] = {.open = draw(4) != 0,
                       .work = Duration{draw(4)},
                       .attempts = 0,
                       .free_bytes = draw(20) - 5};
      policy.Update(WorkerId{worker}, loads[worker]);
      const int64_t needed = draw(16);
      WorkerId expected = kAnyWorker;
      for (const auto& [id, load] : loads) {
        if (!load.open || !Fits(needed, load.free_bytes)) continue;
        if (expected == kAnyWorker || load.work < loads[expected.value].work) {
          expected = WorkerId{id};
        }
      }
      ASSERT_EQ(policy.Choose({.reserve_bytes = needed}), expected) << "seed " << seed;
    }
  }
}

TEST(PlacementTableTest, EveryRowMakesAPolicyAndIsFoundByName) {
  EXPECT_EQ(PlacementPolicies()[0].name, "least_load");
  for (const PlacementPolicy& policy : PlacementPolicies()) {
    EXPECT_NE(MakePlacement(policy.name), nullptr) << policy.name;
  }
  EXPECT_EQ(MakePlacement("no_such_policy"), nullptr);
}

}  // namespace
}  // namespace shoal::scheduler
