#pragma once

#include <cstdint>
#include <vector>

#include "server/core/slab.h"

namespace shoal::core {

/// Finds the row of an id: open addressing with multiplicative hashing, entries kept in order of
/// their homes (Robin Hood hashing: Celis, Larson and Munro, FOCS 1985), deletion by shifting back.
///
/// It has no walk over its entries, so the order in which they lie decides nothing. O(1) expected;
/// allocates only while it grows.
class IdIndex {
 public:
  IdIndex();

  /// The row of `id`, or kNone.
  uint32_t Find(uint64_t id) const;

  /// Enters `id` (not 0) with its row. False, and nothing changed, when it is there already.
  bool Insert(uint64_t id, uint32_t row);

  /// Removes `id`, which is in the index.
  void Erase(uint64_t id);

  int64_t size() const { return size_; }

 private:
  struct Entry {
    uint64_t id = 0;  // 0 is an empty place.
    uint32_t row = kNone;
  };

  // Ids of a `Slab` come in steps of equal width, which this factor spreads evenly (Knuth, The
  // Art of Computer Programming 3, 6.4).
  size_t Home(uint64_t id) const {
    return static_cast<size_t>((id * uint64_t{0x9E3779B97F4A7C15}) >> shift_);
  }
  // How far `place` is from the home of the entry there.
  size_t Distance(size_t place) const { return (place - Home(entries_[place].id)) & mask_; }
  // The place of `id`, or the one where it belongs: the first that is empty or whose entry is
  // nearer to its home than `id` would be there.
  size_t PlaceOf(uint64_t id) const;
  void Resize(size_t places);

  std::vector<Entry> entries_;  // A power of two, at most half full.
  size_t mask_ = 0;
  int shift_ = 0;
  int64_t size_ = 0;
};

}  // namespace shoal::core
