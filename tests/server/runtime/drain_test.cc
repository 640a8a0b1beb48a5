#include "server/runtime/drain.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/details.h"

namespace shoal::runtime {
namespace {

TEST(DrainSignalTest, AdmitsUntilItBeginsAndThenSaysWhenToTryAgain) {
  DrainSignal drain;
  EXPECT_TRUE(drain.Admit().ok());
  EXPECT_TRUE(drain.Check().ok());
  EXPECT_TRUE(drain.Begin());
  EXPECT_FALSE(drain.Begin());
  const absl::Status refused = drain.Admit().status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(support::ReasonOf(refused), "DRAINING");
  EXPECT_TRUE(support::DetailOf<v1::RetryInfo>(refused).has_value());
}

TEST(DrainSignalTest, IsIdleOnceBegunAndEveryTicketIsBack) {
  DrainSignal drain;
  std::optional<DrainSignal::Ticket> admitted = *drain.Admit();
  std::optional<DrainSignal::Ticket> moved = std::move(*admitted);
  admitted.reset();
  int told = 0;
  drain.WhenIdle([&] { ++told; });
  EXPECT_EQ(told, 0);
  drain.Begin();
  EXPECT_EQ(told, 0);
  EXPECT_FALSE(drain.WaitIdle(Duration(1)));
  std::optional<DrainSignal::Ticket> reading = drain.Enter();  // Not refused.
  moved.reset();
  EXPECT_EQ(told, 0);
  reading.reset();
  EXPECT_EQ(told, 1);
  drain.WhenIdle([&] { ++told; });
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(drain.WaitIdle(Duration::max()));
}

TEST(DrainSignalTest, WatchersAreToldOnceUnlessTheyLeft) {
  DrainSignal drain;
  int first = 0;
  int second = 0;
  drain.Watch([&] { ++first; });
  drain.Unwatch(drain.Watch([&] { ++second; }));
  drain.Begin();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  drain.Unwatch(drain.Watch([&] { ++second; }));  // Late: at once.
  EXPECT_EQ(second, 1);
}

TEST(DrainSignalTest, NoWorkIsAdmittedAfterIdleWasTold) {
  for (int round = 0; round < 100; ++round) {
    DrainSignal drain;
    std::atomic<bool> idle = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        while (true) {
          const auto ticket = drain.Admit();
          if (!ticket.ok()) return;
          EXPECT_FALSE(idle);
        }
      });
    }
    drain.WhenIdle([&] { idle = true; });
    drain.Begin();
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(idle);
  }
}

}  // namespace
}  // namespace shoal::runtime
