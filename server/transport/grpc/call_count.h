#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/time.h"

namespace shoal::transport {

/// Counts the calls under way, so that a server that stops can wait for those that were there when
/// it began to, however many come and are refused meanwhile.
///
/// Cost: three atomic operations a call.
/// Thread-safety: all calls from any thread, `Turn` once.
class CallCount {
 public:
  /// A call begins. What it returns goes to Leave, once, when its last byte is on its way.
  int Enter();
  void Leave(int side);

  /// From now on calls belong to the other side: those that began before can be waited for.
  void Turn();
  /// After Turn. Waits until every call that began before it is over; false: not within `timeout`.
  bool AwaitEarlier(Duration timeout);

 private:
  std::atomic<int> side_ = 0;  // 0 until Turn.
  std::atomic<int64_t> earlier_ = 0;
  std::mutex mutex_;
  std::condition_variable over_;
};

}  // namespace shoal::transport
