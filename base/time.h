#pragma once

#include <chrono>

namespace shoal {

using Duration = std::chrono::nanoseconds;

/// The clock of the pure cores. It has no `now`: time arrives with each event.
struct CoreClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<CoreClock>;
  static constexpr bool is_steady = true;
};

/// A moment on the monotonic clock of one process: means nothing to another. What 0 is, is the
/// clock's business.
using Instant = CoreClock::time_point;

/// Later than every real moment: "no deadline".
inline constexpr Instant kNever = Instant::max();

}  // namespace shoal
