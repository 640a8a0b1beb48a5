#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/support/inbox.h"

namespace shoal::support {

/// Looks again and again until `condition()` holds: for what another thread or process does without
/// a way to be told. False, after kPatience, if it never does; use as ASSERT_TRUE(Eventually(...)).
template <typename Condition>
::testing::AssertionResult Eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return ::testing::AssertionFailure() << "not within " << kPatience.count() << " s";
    }
    std::this_thread::yield();
  }
  return ::testing::AssertionSuccess();
}

}  // namespace shoal::support
