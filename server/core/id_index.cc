#include "server/core/id_index.h"

#include <utility>

#include "base/check.h"

namespace shoal::core {

namespace {
constexpr size_t kPlacesMin = 64;
}  // namespace

IdIndex::IdIndex() : entries_(kPlacesMin), mask_(kPlacesMin - 1) {}

uint32_t IdIndex::Find(uint64_t id) const {
  for (size_t place = Home(id);; place = (place + 1) & mask_) {
    if (entries_[place].id == id) return entries_[place].row;
    if (entries_[place].id == 0) return kNone;
  }
}

bool IdIndex::Insert(uint64_t id, uint32_t row) {
  SHOAL_CHECK(id != 0);
  if (static_cast<size_t>(size_ + 1) * 2 > entries_.size()) Grow();
  size_t place = Home(id);
  while (entries_[place].id != 0) {
    if (entries_[place].id == id) return false;
    place = (place + 1) & mask_;
  }
  entries_[place] = {id, row};
  ++size_;
  return true;
}

void IdIndex::Erase(uint64_t id) {
  size_t hole = Home(id);
  while (entries_[hole].id != id) {
    SHOAL_CHECK(entries_[hole].id != 0);
    hole = (hole + 1) & mask_;
  }
  // An entry behind the hole moves into it unless its home lies after the hole: then no search
  // for it would pass there.
  for (size_t place = (hole + 1) & mask_; entries_[place].id != 0; place = (place + 1) & mask_) {
    const size_t from_home = (place - Home(entries_[place].id)) & mask_;
    const size_t from_hole = (place - hole) & mask_;
    if (from_home >= from_hole) {
      entries_[hole] = entries_[place];
      hole = place;
    }
  }
  entries_[hole] = Entry{};
  --size_;
}

void IdIndex::Grow() {
  std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
  mask_ = entries_.size() - 1;
  size_ = 0;
  for (const Entry& entry : old) {
    if (entry.id != 0) Insert(entry.id, entry.row);
  }
}

}  // namespace shoal::core
