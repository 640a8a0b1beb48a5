#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "server/memory/mapping.h"

namespace shoal::memory {

/// Runs of 64 KiB granules out of one mapping: best fit, at the lowest address among equals;
/// neighbouring free runs are joined.
///
/// The address space never used yet is one long free run at the end, so best fit takes warm runs
/// first. Cost: O(log runs) under one lock.
/// Thread-safety: all calls from any thread.
class PageHeap {
 public:
  static constexpr int64_t kGranuleBytes = int64_t{64} << 10;

  /// Errors:
  ///   RESOURCE_EXHAUSTED  no address space.
  static absl::StatusOr<std::unique_ptr<PageHeap>> Create(int64_t bytes, bool huge_pages);

  /// A run of `bytes`, a positive multiple of the granule, or null when no free run is that long.
  std::byte* Allocate(int64_t bytes);
  void Deallocate(std::byte* data, int64_t bytes);

  /// Gives the pages of all free runs back to the system.
  void Trim();

  std::byte* data() const { return mapping_.data(); }
  /// Bytes below the highest address handed out since the last Trim, or still in use.
  int64_t warm_bytes() const { return warm_bytes_.load(std::memory_order_relaxed); }
  int64_t longest_free_bytes() const;

 private:
  explicit PageHeap(Mapping mapping);
  void Insert(int64_t offset, int64_t bytes);  // Needs mutex_.

  Mapping mapping_;
  std::atomic<int64_t> warm_bytes_ = 0;
  mutable std::mutex mutex_;
  absl::btree_map<int64_t, int64_t> free_by_offset_;            ///< Offset to bytes.
  absl::btree_set<std::pair<int64_t, int64_t>> free_by_bytes_;  ///< (bytes, offset).
};

}  // namespace shoal::memory
