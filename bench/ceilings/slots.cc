#include "bench/ceilings/slots.h"

#include <malloc.h>

#include <utility>

#include "base/status.h"

namespace shoal::bench {

absl::StatusOr<Bytes> Slots::Get(int index, int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Memory>& slot = slots_[index];
  if (slot == nullptr || slot->bytes().size() < size) {
    slot.reset();
    SHOAL_ASSIGN_OR_RETURN(slot, NewHeapMemory(bytes));
  }
  return slot->bytes().first(size);
}

void Slots::Reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  slots_.clear();
  // Or the next size's peak would be this one's memory, kept by the allocator.
  malloc_trim(0);
}

}  // namespace shoal::bench
