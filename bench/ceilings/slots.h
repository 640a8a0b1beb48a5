#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "bench/subject.h"

namespace shoal::bench {

/// A ceiling server's payload memory: buffers by number, grown and touched when first used in a
/// size, so that what is measured never meets a fresh page.
///
/// Thread-safety: all calls from any thread; two calls in flight never use one slot.
class Slots {
 public:
  /// The first `bytes` of slot `index`, which keeps its contents unless it has to grow.
  ///
  /// Lifetime: until the slot grows, or `Reset`.
  /// Errors: RESOURCE_EXHAUSTED  no memory.
  absl::StatusOr<Bytes> Get(int index, int64_t bytes);

  void Reset();

 private:
  std::mutex mutex_;
  std::map<int, std::unique_ptr<Memory>> slots_;
};

}  // namespace shoal::bench
