#include "client/src/region_allocator.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace shoal::internal {

RegionAllocator::RegionAllocator(int64_t bytes) {
  const int64_t usable = bytes / kAlignment * kAlignment;
  if (usable > 0) free_[0] = usable;
}

std::optional<int64_t> RegionAllocator::Allocate(int64_t bytes) {
  if (bytes > INT64_MAX - kAlignment) return std::nullopt;
  const int64_t length = (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const auto fits = std::find_if(free_.begin(), free_.end(),
                                 [length](const auto& part) { return part.second >= length; });
  if (fits == free_.end()) return std::nullopt;
  const auto [offset, available] = *fits;
  free_.erase(fits);
  if (available > length) free_[offset + length] = available - length;
  taken_[offset] = length;
  taken_bytes_ += length;
  return offset;
}

void RegionAllocator::Free(int64_t offset) {
  const auto it = taken_.find(offset);
  SHOAL_CHECK(it != taken_.end());
  int64_t length = it->second;
  taken_.erase(it);
  taken_bytes_ -= length;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + length) {
    length += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += length;
      return;
    }
  }
  free_[offset] = length;
}

}  // namespace shoal::internal
