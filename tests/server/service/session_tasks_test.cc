#include "server/service/session_tasks.h"

#include <gtest/gtest.h>

#include <chrono>

#include "server/runtime/clock.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

using std::chrono::microseconds;

TEST(SessionTasksTest, ATaskEndsByItsOwnTimeoutOrWithTheSession) {
  const Instant now = runtime::Now();
  const Instant session = now + microseconds(100);
  const auto deadline = [&](int64_t timeout_us) {
    return DeadlineFor({.id = 1, .call = {}, .timeout_us = timeout_us}, now, session);
  };
  EXPECT_EQ(deadline(0), session);
  EXPECT_EQ(deadline(30), now + microseconds(30));
  EXPECT_EQ(deadline(300), session);
  EXPECT_EQ(deadline(INT64_MAX), session);
  EXPECT_EQ(deadline(-1), now);
  EXPECT_EQ(deadline(INT64_MIN), now);
}

TEST(SessionTasksTest, AFailedResultCarriesTheStatus) {
  v1::SessionResult result;
  ASSERT_TRUE(result.ParseFromString(FailedResult(7, absl::AbortedError("lost"))));
  EXPECT_EQ(result.id(), 7U);
  EXPECT_EQ(result.status().code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_EQ(result.status().message(), "lost");
}

}  // namespace
}  // namespace shoal::service
