#include "server/core/id_index.h"

#include <bit>
#include <utility>

#include "base/check.h"

namespace shoal::core {

namespace {
constexpr size_t kPlacesMin = 64;
}  // namespace

IdIndex::IdIndex() { Resize(kPlacesMin); }

size_t IdIndex::PlaceOf(uint64_t id) const {
  size_t place = Home(id);
  for (size_t distance = 0;; ++distance) {
    const bool found = entries_[place].id == id || entries_[place].id == 0;
    if (found || Distance(place) < distance) return place;
    place = (place + 1) & mask_;
  }
}

uint32_t IdIndex::Find(uint64_t id) const {
  const Entry& entry = entries_[PlaceOf(id)];
  return entry.id == id ? entry.row : kNone;
}

bool IdIndex::Insert(uint64_t id, uint32_t row) {
  SHOAL_CHECK(id != 0);
  if (static_cast<size_t>(size_ + 1) * 2 > entries_.size()) Resize(2 * entries_.size());
  size_t place = PlaceOf(id);
  if (entries_[place].id == id) return false;
  ++size_;
  Entry moving{id, row};
  while (entries_[place].id != 0) {
    std::swap(moving, entries_[place]);
    place = (place + 1) & mask_;
  }
  entries_[place] = moving;
  return true;
}

void IdIndex::Erase(uint64_t id) {
  size_t place = PlaceOf(id);
  SHOAL_CHECK(entries_[place].id == id);
  for (size_t next = (place + 1) & mask_; entries_[next].id != 0 && Distance(next) > 0;
       next = (next + 1) & mask_) {
    entries_[place] = entries_[next];
    place = next;
  }
  entries_[place] = Entry{};
  --size_;
}

void IdIndex::Resize(size_t places) {
  const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(places));
  mask_ = places - 1;
  shift_ = 64 - std::countr_zero(places);
  size_ = 0;
  for (const Entry& entry : old) {
    if (entry.id != 0) Insert(entry.id, entry.row);
  }
}

}  // namespace shoal::core
