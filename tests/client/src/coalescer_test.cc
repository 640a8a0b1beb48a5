#include "client/src/coalescer.h"

#include <gtest/gtest.h>

namespace shoal::internal {
namespace {

using std::chrono::microseconds;

constexpr int64_t kTaskBytes = 20;

Instant At(int64_t us) { return Instant(microseconds(us)); }

/// One that has just sent a batch, so that it counts as busy, at 1000 us.
Coalescer Busy() {
  Coalescer coalescer((SessionOptions()));
  coalescer.Added(At(1000), 10, 10 * kTaskBytes);
  coalescer.Flushed(At(1000), 10, 10 * kTaskBytes);
  return coalescer;
}

TEST(CoalescerTest, NothingIsNeverDue) {
  const Coalescer coalescer((SessionOptions()));
  EXPECT_FALSE(coalescer.Due(At(0), 0));
  EXPECT_EQ(coalescer.DueAt(), std::nullopt);
}

TEST(CoalescerTest, TheFirstTaskLeavesAtOnce) {
  Coalescer coalescer((SessionOptions()));
  coalescer.Added(At(5), 1, kTaskBytes);
  EXPECT_TRUE(coalescer.Due(At(5), 0));
}

TEST(CoalescerTest, ALoneCallerIsNeverMadeToWait) {
  Coalescer coalescer((SessionOptions()));
  for (int64_t us = 0; us < 100; us += 5) {
    coalescer.Added(At(us), 1, kTaskBytes);
    EXPECT_TRUE(coalescer.Due(At(us), 1)) << us;
    coalescer.Flushed(At(us), 1, kTaskBytes);
  }
}

TEST(CoalescerTest, UnderLoadATaskWaitsForCompanyButNotLong) {
  Coalescer coalescer = Busy();
  coalescer.Added(At(1010), 1, kTaskBytes);
  EXPECT_FALSE(coalescer.Due(At(1010), 10));
  EXPECT_FALSE(coalescer.Due(At(1049), 10));
  EXPECT_EQ(coalescer.DueAt(), At(1060));
  coalescer.Added(At(1040), 1, kTaskBytes);
  EXPECT_EQ(coalescer.DueAt(), At(1060)) << "the oldest one decides";
  EXPECT_TRUE(coalescer.Due(At(1060), 10));
}

TEST(CoalescerTest, ALongPauseIsIdleness) {
  Coalescer coalescer = Busy();
  coalescer.Added(At(1050), 1, kTaskBytes);
  EXPECT_TRUE(coalescer.Due(At(1050), 10));
}

TEST(CoalescerTest, NothingUnansweredIsIdleness) {
  Coalescer coalescer = Busy();
  coalescer.Added(At(1001), 1, kTaskBytes);
  EXPECT_TRUE(coalescer.Due(At(1001), 0));
  EXPECT_FALSE(coalescer.Due(At(1001), 1));
}

TEST(CoalescerTest, ManyTasksOrManyBytesDoNotWait) {
  Coalescer by_count = Busy();
  by_count.Added(At(1001), 63, 63);
  EXPECT_FALSE(by_count.Due(At(1001), 10));
  by_count.Added(At(1002), 1, 1);
  EXPECT_TRUE(by_count.Due(At(1002), 10));

  Coalescer by_bytes = Busy();
  by_bytes.Added(At(1001), 2, 8191);
  EXPECT_FALSE(by_bytes.Due(At(1001), 10));
  by_bytes.Added(At(1002), 1, 1);
  EXPECT_TRUE(by_bytes.Due(At(1002), 10));
}

TEST(CoalescerTest, WhatDidNotFitStaysDueUntilItIsGone) {
  Coalescer coalescer = Busy();
  coalescer.Added(At(1001), 100, 100 * kTaskBytes);
  coalescer.Flushed(At(1002), 80, 80 * kTaskBytes);
  EXPECT_EQ(coalescer.waiting_tasks(), 20);
  EXPECT_FALSE(coalescer.Due(At(1010), 90));
  EXPECT_TRUE(coalescer.Due(At(1051), 90)) << "its age counts from when it was added";
}

TEST(CoalescerDeathTest, MoreCannotLeaveThanWaits) {
  Coalescer coalescer((SessionOptions()));
  EXPECT_DEATH(coalescer.Flushed(At(0), 1, 1), "check failed");
}

}  // namespace
}  // namespace shoal::internal
