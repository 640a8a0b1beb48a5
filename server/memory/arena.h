#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/memory/budget.h"

namespace shoal::memory {

class Arena;
class PageHeap;
class SlabHeap;

/// Alignment of every extent, for SIMD loads and against false sharing.
inline constexpr int64_t kExtentAlignment = 64;

/// An extent of an arena; goes back to it when the block goes.
///
/// Thread-safety: as a value; may be released on another thread than it was made on.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block() { Release(); }

  /// Aligned to kExtentAlignment. Not null for a block of 0 bytes from an arena; null for an empty
  /// block.
  std::byte* data() const { return data_; }
  /// As asked for.
  int64_t bytes() const { return bytes_; }
  /// Gives the extent back now; the block is empty afterwards.
  void Release() noexcept;

 private:
  friend class Arena;
  Block(Arena* arena, std::byte* data, int64_t bytes) : arena_(arena), data_(data), bytes_(bytes) {}

  Arena* arena_ = nullptr;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

/// The largest capacity of an arena.
inline constexpr int64_t kArenaBytesMax = int64_t{1} << 44;

struct ArenaOptions {
  std::string name = "arena";  ///< In messages.
  int64_t capacity_bytes = 0;  ///< The cap, > 0; address space is reserved, memory is not.
  /// Back extents of 1 MiB and more with huge pages: a first touch costs a fraction of what 4 KiB
  /// pages cost, at up to 2 MiB of slack in all.
  bool huge_pages = true;
};

struct ArenaStats {
  int64_t used_bytes = 0;  ///< In extents, after rounding up.
  int64_t peak_bytes = 0;
  int64_t capacity_bytes = 0;
  /// Bounds resident memory from above: all below the highest address used since the last Trim.
  int64_t warm_bytes = 0;
};

/// The payload memory of a process: extents of big, sparse, private mappings.
///
/// A page costs nothing until it is first written and then stays warm: the arena gives none back
/// in steady state, and hands out the lowest fitting addresses first, so that warm pages are used
/// again. Up to 64 KiB an extent is a slot of a slab of its size class (at most 25% larger than
/// asked for); above, a run of 64 KiB granules, best fit, neighbours joined when freed.
///
/// Cost: uncontended, under 100 ns for a small extent and its release, under 1 us for a large one.
/// Must outlive its blocks (checked).
/// Thread-safety: all calls from any thread.
class Arena {
 public:
  /// Errors:
  ///   RESOURCE_EXHAUSTED  no address space for the capacity.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(const ArenaOptions& options);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// An extent of `bytes` >= 0, contents undefined.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  over the cap, or no free run is long enough. Nothing was touched.
  ///                       Carries a Shortage.
  absl::StatusOr<Block> Allocate(int64_t bytes);

  /// As `Allocate`, for owners that keep pointer and size themselves; undone by
  /// `Deallocate` with the same two.
  absl::StatusOr<std::byte*> AllocateRaw(int64_t bytes);
  void Deallocate(std::byte* data, int64_t bytes) noexcept;

  /// Gives every free page back to the system, except those in slabs that have a slot in use.
  /// Slow (system calls under the locks): for idle times.
  void Trim();

  ArenaStats Stats() const;

 private:
  explicit Arena(const ArenaOptions& options);
  std::byte* AllocateReserved(int64_t reserved_bytes);
  void TrimAboveCapacity();
  int64_t WarmBytes() const;

  Budget budget_;
  std::unique_ptr<SlabHeap> slabs_;        ///< Up to 64 KiB.
  std::unique_ptr<PageHeap> small_pages_;  ///< Ordinary pages: runs under 1 MiB.
  std::unique_ptr<PageHeap> huge_pages_;   ///< Runs of 1 MiB and more.
};

}  // namespace shoal::memory
