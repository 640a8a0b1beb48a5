#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace shoal::internal {

/// Which parts of one region are taken. Pure: knows offsets, not memory.
///
/// First fit, on 64-byte boundaries; neighbouring free parts are joined at once.
/// Thread-safety: one thread at a time.
class RegionAllocator {
 public:
  static constexpr int64_t kAlignment = 64;

  /// A region of `bytes` >= 0 bytes, all free.
  explicit RegionAllocator(int64_t bytes);

  /// The offset of a free part of at least max(bytes, 1) bytes, now taken; nothing if none fits.
  std::optional<int64_t> Allocate(int64_t bytes);

  /// Gives back what Allocate returned; anything else is a bug of ours.
  void Free(int64_t offset);

  bool empty() const { return taken_.empty(); }
  int64_t taken_bytes() const { return taken_bytes_; }

 private:
  std::map<int64_t, int64_t> free_;   // Offset to length.
  std::map<int64_t, int64_t> taken_;  // Likewise.
  int64_t taken_bytes_ = 0;
};

}  // namespace shoal::internal
