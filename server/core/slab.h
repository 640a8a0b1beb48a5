#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"

namespace shoal::core {

/// "No row", in every link.
inline constexpr uint32_t kNone = UINT32_MAX;

/// A reference to a row that turns stale when the row's generation moves on.
///
/// Packed it is the value of an `Id`: the generation above, the index below. Generations start at
/// 1, so a packed handle is never 0, the "none" of ids.
struct Handle {
  uint32_t index = 0;
  uint32_t generation = 0;

  static constexpr Handle Unpack(uint64_t value) {
    return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  }
  constexpr uint64_t Packed() const { return uint64_t{generation} << 32 | index; }
};

/// Rows in fixed chunks, named by index; rows never move and their storage is never given back.
///
/// A freed row keeps its content, so generations inside it survive. The row freed last is taken
/// first, which keeps the hot rows in the cache. Allocates only while it grows, a chunk of
/// 2^`chunk_bits` rows at a time.
template <typename Row, uint32_t chunk_bits = 12>
class Slab {
 public:
  /// Takes a free row, growing by a chunk when there is none. Its content is what it was when
  /// freed, or a default `Row`.
  uint32_t Take() {
    if (free_.empty()) Grow();
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }

  /// Gives a row back. It may be taken again at once.
  void Free(uint32_t index) { free_.push_back(index); }

  /// Takes a row out of use for good: its generations are used up.
  void Retire() { ++retired_; }

  Row& operator[](uint32_t index) { return chunks_[index >> chunk_bits][index & kChunkMask]; }
  const Row& operator[](uint32_t index) const {
    return chunks_[index >> chunk_bits][index & kChunkMask];
  }

  /// Whether `index` names a row at all; an id from a peer may not.
  bool Contains(uint32_t index) const { return index < row_count(); }

  /// Rows in existence: free, retired and taken.
  uint32_t row_count() const { return static_cast<uint32_t>(chunks_.size() << chunk_bits); }
  uint32_t taken_count() const {
    return row_count() - static_cast<uint32_t>(free_.size()) - retired_;
  }

 private:
  static constexpr uint32_t kChunkRows = uint32_t{1} << chunk_bits;
  static constexpr uint32_t kChunkMask = kChunkRows - 1;

  void Grow() {
    const uint32_t first = row_count();
    SHOAL_CHECK(first < kNone - kChunkRows);
    chunks_.push_back(std::make_unique<Row[]>(kChunkRows));
    // So that Free never allocates; doubled, so that growing stays linear.
    if (free_.capacity() < first + kChunkRows) free_.reserve(2 * (first + kChunkRows));
    for (uint32_t i = kChunkRows; i > 0; --i) free_.push_back(first + i - 1);
  }

  std::vector<std::unique_ptr<Row[]>> chunks_;
  std::vector<uint32_t> free_;
  uint32_t retired_ = 0;
};

}  // namespace shoal::core
