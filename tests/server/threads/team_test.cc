#include "server/threads/team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

namespace shoal::threads {
namespace {

/// Counts up to a number that somebody waits for.
class Counter {
 public:
  void Add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void WaitFor(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(TeamTest, EveryChunkRunsOnce) {
  for (const int helpers : {0, 1, 3}) {
    Team team(helpers);
    EXPECT_EQ(team.width(), helpers + 1);
    for (const int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
      team.ParallelFor(count, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
      for (const std::atomic<int>& run : runs) ASSERT_EQ(run, 1);
    }
  }
}

TEST(TeamTest, NoThreadExistsBeforeItIsWanted) {
  Team team(3);
  EXPECT_EQ(team.helper_count(), 0);
  team.ParallelFor(1, [](int64_t) {});
  EXPECT_EQ(team.helper_count(), 0);
  team.ParallelFor(2, [](int64_t) {});
  EXPECT_EQ(team.helper_count(), 1);
}

TEST(TeamTest, HelpersTakeChunksAtTheSameTime) {
  Team team(1);
  Counter arrived;
  // Either chunk ends only once both have begun: one thread alone could not do it.
  team.ParallelFor(2, [&](int64_t) {
    arrived.Add();
    arrived.WaitFor(2);
  });
}

TEST(TeamTest, CallersShareTheHelpersAndMayNest) {
  Team team(2);
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        team.ParallelFor(
            4, [&](int64_t i) { team.ParallelFor(3, [&](int64_t j) { sum += i * 3 + j; }); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 50 * 66);
}

TEST(TeamTest, WritesOfTheChunksAreSeenAfterwards) {
  Team team(3);
  std::vector<int64_t> values(10'000);
  for (int round = 1; round <= 100; ++round) {
    team.ParallelFor(100, [&](int64_t chunk) {
      for (int64_t i = chunk * 100; i < chunk * 100 + 100; ++i) {
        values[static_cast<size_t>(i)] += i;
      }
    });
    ASSERT_EQ(values[9'999], 9'999 * round);
    ASSERT_EQ(values[5'000], 5'000 * round);
  }
}

TEST(TeamTest, PostedWorkRunsInOrderAndIsFinishedByTheDestructor) {
  std::vector<int> order;
  auto team = std::make_unique<Team>(1);
  for (int i = 0; i < 100; ++i) {
    team->Post([&order, i] { order.push_back(i); });
  }
  team.reset();
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(TeamTest, PostedWorkRunsBesideOtherPostedWork) {
  Team team(2);
  Counter arrived;
  Counter ended;
  for (int i = 0; i < 2; ++i) {
    team.Post([&] {
      arrived.Add();
      arrived.WaitFor(2);
      ended.Add();
    });
  }
  ended.WaitFor(2);
}

TEST(TeamTest, PostedWorkMayUseTheTeam) {
  Team team(2);
  Counter ended;
  std::atomic<int> chunks = 0;
  team.Post([&] {
    team.ParallelFor(10, [&](int64_t) { ++chunks; });
    team.Post([&] { ended.Add(); });
  });
  ended.WaitFor(1);
  EXPECT_EQ(chunks, 10);
}

// In a process of its own, which may not have another thread.
TEST(TeamTest, WithoutThreadsTheCallerDoesTheWork) {
  const auto child = [] {
    const rlimit none{};
    setrlimit(RLIMIT_NPROC, &none);
    if (geteuid() == 0) std::ignore = setuid(65534);  // The limit does not hold for root.
    Team team(3);
    int count = 0;  // Of this thread alone.
    team.ParallelFor(100, [&](int64_t) { ++count; });
    team.Post([&] { ++count; });
    std::cerr << count << " " << team.helper_count() << " " << team.StartFirst();
    _exit(0);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0), "^101 0 RESOURCE_EXHAUSTED");
}

TEST(TeamTest, StartFirstStartsOneHelper) {
  Team team(3);
  EXPECT_TRUE(team.StartFirst().ok());
  EXPECT_TRUE(team.StartFirst().ok());
  EXPECT_EQ(team.helper_count(), 1);
}

}  // namespace
}  // namespace shoal::threads
