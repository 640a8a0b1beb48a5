#include "client/src/async_runner.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <iostream>
#include <set>
#include <tuple>

namespace shoal::internal {
namespace {

TEST(AsyncRunnerTest, RunsAllJobsInThreadsOfItsOwn) {
  std::mutex mutex;
  int ran = 0;
  std::set<std::thread::id> threads;
  {
    AsyncRunner runner(3);
    for (int i = 0; i < 100; ++i) {
      runner.Post([&](const absl::Status& thread) {
        EXPECT_TRUE(thread.ok());
        const std::lock_guard lock(mutex);
        ++ran;
        threads.insert(std::this_thread::get_id());
      });
    }
  }
  EXPECT_EQ(ran, 100);
  EXPECT_LE(threads.size(), 3U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

// In a process of its own, which may not have another thread.
TEST(AsyncRunnerTest, WithoutThreadsAJobIsToldSo) {
  const auto child = [] {
    const rlimit none{};
    setrlimit(RLIMIT_NPROC, &none);
    if (geteuid() == 0) std::ignore = setuid(65534);  // The limit does not hold for root.
    AsyncRunner runner(2);
    runner.Post([](const absl::Status& thread) { std::cerr << thread; });
    std::cerr << " and on";
    _exit(0);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0), "RESOURCE_EXHAUSTED: no thread.* and on");
}

}  // namespace
}  // namespace shoal::internal
