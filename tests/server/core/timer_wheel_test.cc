#include "server/core/timer_wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace shoal::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration kTick{1 << 20};

std::vector<uint32_t> AdvanceTo(TimerWheel& wheel, Instant now) {
  std::vector<uint32_t> fired;
  wheel.Advance(now, [&](uint32_t index) { fired.push_back(index); });
  return fired;
}

TEST(TimerWheelTest, FiresNeverEarlyAndAtMostOneTickLate) {
  for (const Duration after : {Duration{1}, kTick - Duration{1}, kTick, kTick + Duration{1},
                               Duration{seconds(10)}, Duration{hours(500)}}) {
    TimerWheel wheel;
    const Instant due = Instant{} + after;
    wheel.Arm(3, due);
    EXPECT_THAT(AdvanceTo(wheel, due - nanoseconds(1)), IsEmpty()) << after.count();
    EXPECT_THAT(AdvanceTo(wheel, due + kTick), ElementsAre(3)) << after.count();
    EXPECT_EQ(wheel.armed_count(), 0);
    EXPECT_EQ(wheel.NextWakeup(), kNever);
  }
}

TEST(TimerWheelTest, FarthestMomentIsHeldAndNeverWakes) {
  TimerWheel wheel;
  wheel.Arm(0, kNever - nanoseconds(1));
  EXPECT_THAT(AdvanceTo(wheel, Instant{hours(24 * 365 * 200)}), IsEmpty());
  EXPECT_EQ(wheel.armed_count(), 1);
}

TEST(TimerWheelTest, MomentAlreadyPastFiresAtTheNextTick) {
  TimerWheel wheel;
  EXPECT_THAT(AdvanceTo(wheel, Instant{seconds(5)}), IsEmpty());
  wheel.Arm(1, Instant{seconds(1)});
  EXPECT_THAT(AdvanceTo(wheel, Instant{seconds(5)} + kTick), ElementsAre(1));
}

TEST(TimerWheelTest, DisarmedTimerDoesNotFire) {
  TimerWheel wheel;
  for (uint32_t i = 0; i < 3; ++i) wheel.Arm(i, Instant{milliseconds(100)});
  wheel.Disarm(1);
  EXPECT_FALSE(wheel.IsArmed(1));
  EXPECT_EQ(AdvanceTo(wheel, Instant{seconds(1)}).size(), 2U);
}

TEST(TimerWheelTest, FiringMayArmAndDisarmOthers) {
  TimerWheel wheel;
  wheel.Arm(0, Instant{milliseconds(10)});
  wheel.Arm(1, Instant{milliseconds(50)});
  std::vector<uint32_t> fired;
  wheel.Advance(Instant{seconds(1)}, [&](uint32_t index) {
    fired.push_back(index);
    if (index != 0) return;
    wheel.Disarm(1);
    wheel.Arm(2, Instant{milliseconds(20)});
  });
  EXPECT_THAT(fired, ElementsAre(0, 2));
}

// Against a sorted map: random moments over many orders of magnitude, some disarmed, time moving
// in random steps that follow NextWakeup or jump past it.
TEST(TimerWheelTest, AgreesWithASortedMap) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    TimerWheel wheel;
    std::map<uint32_t, Instant> armed;
    Instant now{};
    for (int step = 0; step < 400; ++step) {
      const auto index = static_cast<uint32_t>(random() % 64);
      if (armed.contains(index)) {
        wheel.Disarm(index);
        armed.erase(index);
      } else {
        const Instant due = now + Duration{static_cast<int64_t>(random() >> (random() % 40 + 20))};
        wheel.Arm(index, due);
        armed[index] = due;
      }
      Instant next = now + Duration{static_cast<int64_t>(random() % 50'000'000)};
      if (random() % 3 == 0 && wheel.NextWakeup() != kNever) {
        next = std::max(now, wheel.NextWakeup());
      }
      for (const auto& [unused, due] : armed) EXPECT_LE(wheel.NextWakeup(), due + kTick);
      now = next;
      for (const uint32_t fired : AdvanceTo(wheel, now)) {
        ASSERT_TRUE(armed.contains(fired)) << "seed " << seed;
        EXPECT_LE(armed[fired], now) << "seed " << seed;
        armed.erase(fired);
      }
      for (const auto& [unused, due] : armed) ASSERT_GT(due + kTick, now) << "seed " << seed;
      ASSERT_EQ(wheel.armed_count(), static_cast<int64_t>(armed.size()));
    }
  }
}

TEST(TimerWheelDeathTest, ArmingTwiceIsOurBug) {
  TimerWheel wheel;
  wheel.Arm(0, Instant{seconds(1)});
  EXPECT_DEATH(wheel.Arm(0, Instant{seconds(2)}), "check failed");
  EXPECT_DEATH(wheel.Disarm(7), "check failed");
}

}  // namespace
}  // namespace shoal::core
