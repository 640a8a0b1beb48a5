#pragma once

#include <chrono>

namespace shoal::wire {

/// HTTP/2 keepalive of the gRPC connections (RFC 9113, section 6.7): how an end notices that its
/// peer, or the way to it, is gone without a word. gRPC's own defaults never ask (clients) or ask
/// every two hours (servers).
///
/// Both ends take it from here, because they have to agree: a server counts pings that come more
/// often than it permits, and closes the connection at the third (GOAWAY, "too_many_pings").
struct Keepalive {
  /// After so long without a word from the peer, it is pinged, calls or no calls.
  std::chrono::milliseconds interval{30'000};
  /// A ping that was not answered for so long closes the connection; its calls end UNAVAILABLE.
  /// More than the 5 s after which gRPC's client looks at a connection that no thread waits on.
  std::chrono::milliseconds timeout{10'000};
  /// Servers only: how soon after a ping a client may send the next. Below `interval`, so that
  /// clients of other makes may be more anxious than ours, and late timers do no harm.
  std::chrono::milliseconds ping_interval_min{10'000};
};
static_assert(Keepalive().ping_interval_min < Keepalive().interval);

}  // namespace shoal::wire
