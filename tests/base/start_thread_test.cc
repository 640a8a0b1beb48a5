#include "base/start_thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <tuple>
#include <utility>

namespace shoal {
namespace {

TEST(StartThreadTest, RunsWhatItIsGivenOnce) {
  auto count = std::make_unique<int>(0);
  int* const seen = count.get();
  auto thread = StartThread([owned = count.get()] { ++*owned; });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->join();
  EXPECT_EQ(*seen, 1);
}

TEST(StartThreadTest, WhatThereIsCanBeProbed) { EXPECT_TRUE(ProbeThreads(20).ok()); }

// In a process of its own, which may not have another thread.
TEST(StartThreadTest, WithoutThreadsIsAnError) {
  const auto child = [] {
    const rlimit none{};
    setrlimit(RLIMIT_NPROC, &none);
    if (geteuid() == 0) std::ignore = setuid(65534);  // The limit does not hold for root.
    const auto thread = StartThread([] {});
    std::cerr << thread.status() << ProbeThreads(1) << ProbeThreads(0);
    _exit(0);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0),
              "RESOURCE_EXHAUSTED: no thread.*RESOURCE_EXHAUSTED: no thread.*OK");
}

}  // namespace
}  // namespace shoal
