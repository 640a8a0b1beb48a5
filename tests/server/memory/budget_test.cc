#include "server/memory/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "server/memory/shortage.h"

namespace shoal::memory {
namespace {

TEST(BudgetTest, CountsWhatIsHeldAndRemembersThePeak) {
  Budget budget("worker 3", 100);
  {
    const absl::StatusOr<Reservation> a = budget.Reserve(60);
    ASSERT_TRUE(a.ok());
    EXPECT_EQ(budget.used_bytes(), 60);
    absl::StatusOr<Reservation> b = budget.Reserve(40);
    ASSERT_TRUE(b.ok());
    EXPECT_EQ(b->bytes(), 40);
    EXPECT_EQ(budget.used_bytes(), 100);
  }
  EXPECT_EQ(budget.used_bytes(), 0);
  EXPECT_EQ(budget.peak_bytes(), 100);
}

TEST(BudgetTest, RefusalHoldsNothingAndNamesTheNumbers) {
  Budget budget("worker 3", 100);
  const absl::StatusOr<Reservation> held = budget.Reserve(60);
  ASSERT_TRUE(held.ok());

  const absl::Status refused = budget.Reserve(41).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              testing::HasSubstr("worker 3: 41 bytes (41 B) needed, 40 bytes (40 B) available"));
  EXPECT_EQ(ShortageOf(refused), (Shortage{41, 40, 100}));
  EXPECT_FALSE(ShortageOf(refused)->IsPermanent());
  EXPECT_TRUE(ShortageOf(budget.Reserve(101).status())->IsPermanent());
  EXPECT_EQ(budget.used_bytes(), 60);
}

TEST(BudgetTest, TheLargestSizeDoesNotOverflow) {
  Budget budget("client", INT64_MAX);
  const absl::StatusOr<Reservation> held = budget.Reserve(10);
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(budget.Reserve(INT64_MAX).ok());
  EXPECT_TRUE(budget.Reserve(INT64_MAX - 10).ok());
}

TEST(BudgetTest, MovingAReservationMovesTheBytes) {
  Budget budget("client", 10);
  Reservation a = *budget.Reserve(4);
  Reservation b = std::move(a);
  EXPECT_EQ(b.bytes(), 4);
  b = *budget.Reserve(6);
  EXPECT_EQ(budget.used_bytes(), 6);
  b.Release();
  b.Release();
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(BudgetTest, ThreadsNeverHoldMoreThanTheLimit) {
  constexpr int64_t kLimit = 10;
  Budget budget("worker", kLimit);
  std::atomic<int64_t> held = 0;
  std::atomic<int64_t> held_max = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        absl::StatusOr<Reservation> mine = budget.Reserve(i % 5);
        if (!mine.ok()) continue;
        const int64_t now = held += i % 5;
        int64_t most = held_max;
        while (now > most && !held_max.compare_exchange_weak(most, now)) {
        }
        held -= i % 5;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(held_max, kLimit);
  EXPECT_LE(budget.peak_bytes(), kLimit);
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(BudgetDeathTest, ReservationsMustNotOutliveTheirBudget) {
  EXPECT_DEATH(
      {
        auto budget = std::make_unique<Budget>("worker", 10);
        const Reservation held = *budget->Reserve(1);
        budget.reset();
      },
      "used_bytes");
}

}  // namespace
}  // namespace shoal::memory
