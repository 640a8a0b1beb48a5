#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "client/src/storage.h"

namespace shoal::internal {

/// Memory for results that is kept when they are dropped, because touching a fresh page costs
/// several times what filling it does.
///
/// Thread-safety: all methods. Lifetime: its blocks keep it alive.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  /// Keeps at most `kept_bytes_max` bytes that nobody uses.
  explicit BufferPool(int64_t kept_bytes_max) : kept_bytes_max_(kept_bytes_max) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// 64-byte aligned memory with unspecified contents. Errors: RESOURCE_EXHAUSTED.
  absl::StatusOr<StorageRef> Allocate(int64_t bytes);

  /// Bytes kept that nobody uses.
  int64_t kept_bytes() const;

 private:
  class Block;
  struct Kept {
    std::byte* data;
    int64_t capacity;
  };

  void GiveBack(Kept block);

  const int64_t kept_bytes_max_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // Most recently used first: its pages are likeliest in the cache.
  int64_t kept_bytes_ = 0;
};

}  // namespace shoal::internal
