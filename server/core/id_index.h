#pragma once

#include <cstdint>
#include <vector>

#include "server/core/slab.h"

namespace shoal::core {

/// Finds the row of an id: open addressing with linear probing, deletion by shifting back.
///
/// It has no walk over its entries, so the order in which they lie decides nothing. The place of
/// an id is its low half, which is a dense row index where ids come from a `Slab`: neighbours lie
/// side by side and do not collide. O(1) expected; allocates only while it grows.
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

  size_t Home(uint64_t id) const { return static_cast<size_t>(id) & mask_; }
  void Grow();

  std::vector<Entry> entries_;  // A power of two, at most half full.
  size_t mask_;
  int64_t size_ = 0;
};

}  // namespace shoal::core
