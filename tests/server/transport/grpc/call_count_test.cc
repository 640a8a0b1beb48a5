#include "server/transport/grpc/call_count.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace shoal::transport {
namespace {

constexpr Duration kNoTime = Duration::zero();

TEST(CallCountTest, OnlyEarlierCallsAreWaitedFor) {
  CallCount calls;
  const int first = calls.Enter();
  const int second = calls.Enter();
  calls.Leave(first);
  calls.Turn();
  const int late = calls.Enter();
  EXPECT_FALSE(calls.AwaitEarlier(kNoTime));
  EXPECT_FALSE(calls.AwaitEarlier(std::chrono::milliseconds(1)));
  calls.Leave(second);
  EXPECT_TRUE(calls.AwaitEarlier(kNoTime)) << "the late one is not waited for";
  calls.Leave(late);
  EXPECT_TRUE(calls.AwaitEarlier(Duration::max()));
}

TEST(CallCountTest, TheLastOneWakesWhoWaits) {
  CallCount calls;
  const int call = calls.Enter();
  calls.Turn();
  std::jthread ends([&] { calls.Leave(call); });
  EXPECT_TRUE(calls.AwaitEarlier(Duration::max()));
}

TEST(CallCountTest, CallsFromManyThreadsAddUp) {
  CallCount calls;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) calls.Leave(calls.Enter());
      });
    }
    calls.Turn();
  }
  EXPECT_TRUE(calls.AwaitEarlier(kNoTime));
}

}  // namespace
}  // namespace shoal::transport
