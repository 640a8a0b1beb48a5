#pragma once

#include <cstdint>

#include "server/core/slab.h"

namespace shoal::core {

/// A row's place in the one list it is in. A row that may be in several at once has several.
struct ListLink {
  uint32_t previous = kNone;
  uint32_t next = kNone;
};

/// A doubly linked list threaded through the rows of a slab (`Rows`) by their member `link`.
///
/// Owns nothing and allocates nothing; every call is O(1). A row is in at most one list of the
/// same `link`, which is the caller's to know.
template <typename Rows>
class List {
 public:
  bool empty() const { return head_ == kNone; }
  int64_t size() const { return size_; }
  uint32_t front() const { return head_; }
  uint32_t back() const { return tail_; }

  void PushBack(Rows& rows, uint32_t index) { InsertBefore(rows, kNone, index); }

  /// Inserts `index` in front of `position`, or at the end when that is kNone.
  void InsertBefore(Rows& rows, uint32_t position, uint32_t index) {
    const uint32_t previous = position == kNone ? tail_ : rows[position].link.previous;
    rows[index].link = {previous, position};
    (previous == kNone ? head_ : rows[previous].link.next) = index;
    (position == kNone ? tail_ : rows[position].link.previous) = index;
    ++size_;
  }

  void Remove(Rows& rows, uint32_t index) {
    const ListLink link = rows[index].link;
    (link.previous == kNone ? head_ : rows[link.previous].link.next) = link.next;
    (link.next == kNone ? tail_ : rows[link.next].link.previous) = link.previous;
    --size_;
  }

 private:
  uint32_t head_ = kNone;
  uint32_t tail_ = kNone;
  int64_t size_ = 0;
};

}  // namespace shoal::core
