#include "server/memory/page_heap.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace shoal::memory {

absl::StatusOr<std::unique_ptr<PageHeap>> PageHeap::Create(int64_t bytes, bool huge_pages) {
  const int64_t rounded = std::max(bytes / kGranuleBytes, int64_t{1}) * kGranuleBytes;
  SHOAL_ASSIGN_OR_RETURN(Mapping mapping, Mapping::Reserve(rounded, huge_pages));
  return std::unique_ptr<PageHeap>(new PageHeap(std::move(mapping)));
}

PageHeap::PageHeap(Mapping mapping) : mapping_(std::move(mapping)) {
  free_by_offset_.emplace(0, mapping_.bytes());
  free_by_bytes_.emplace(mapping_.bytes(), 0);
}

std::byte* PageHeap::Allocate(int64_t bytes) {
  SHOAL_CHECK(bytes > 0 && bytes % kGranuleBytes == 0);
  const std::lock_guard lock(mutex_);
  const auto fit = free_by_bytes_.lower_bound({bytes, 0});
  if (fit == free_by_bytes_.end()) return nullptr;
  const auto [run_bytes, offset] = *fit;
  free_by_bytes_.erase(fit);
  free_by_offset_.erase(offset);
  if (run_bytes > bytes) Insert(offset + bytes, run_bytes - bytes);
  warm_bytes_.store(std::max(warm_bytes(), offset + bytes), std::memory_order_relaxed);
  return mapping_.data() + offset;
}

void PageHeap::Deallocate(std::byte* data, int64_t bytes) {
  int64_t offset = data - mapping_.data();
  SHOAL_CHECK(offset >= 0 && offset % kGranuleBytes == 0 && bytes <= mapping_.bytes() - offset);
  const std::lock_guard lock(mutex_);
  auto next = free_by_offset_.lower_bound(offset);
  // A run that is free already, wholly or in part, was released twice.
  SHOAL_CHECK(next == free_by_offset_.end() || next->first >= offset + bytes);
  if (next != free_by_offset_.end() && next->first == offset + bytes) {
    bytes += next->second;
    free_by_bytes_.erase({next->second, next->first});
    next = free_by_offset_.erase(next);
  }
  if (next != free_by_offset_.begin()) {
    const auto before = std::prev(next);
    SHOAL_CHECK(before->first + before->second <= offset);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      free_by_bytes_.erase({before->second, before->first});
      free_by_offset_.erase(before);
    }
  }
  Insert(offset, bytes);
}

void PageHeap::Insert(int64_t offset, int64_t bytes) {
  free_by_offset_.emplace(offset, bytes);
  free_by_bytes_.emplace(bytes, offset);
}

void PageHeap::Trim() {
  const std::lock_guard lock(mutex_);
  const int64_t warm_end = warm_bytes();
  for (const auto& [offset, bytes] : free_by_offset_) {
    const int64_t end = std::min(offset + bytes, warm_end);
    if (offset >= end) continue;
    mapping_.Forget(offset, end - offset);
    if (end == warm_end) warm_bytes_.store(offset, std::memory_order_relaxed);
  }
}

int64_t PageHeap::longest_free_bytes() const {
  const std::lock_guard lock(mutex_);
  return free_by_bytes_.empty() ? 0 : free_by_bytes_.rbegin()->first;
}

}  // namespace shoal::memory
