#pragma once

#include <chrono>

#include "base/time.h"

namespace shoal::runtime {

/// The moment, for the cores: the drivers read the clock so that the cores need not.
inline Instant Now() {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

/// The moment `left` from now, kNever for what lies beyond time.
inline Instant After(Instant now, Duration left) {
  return left >= kNever - now ? kNever : now + left;
}

}  // namespace shoal::runtime
