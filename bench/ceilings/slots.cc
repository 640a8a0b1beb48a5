#include "bench/ceilings/slots.h"

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
}

}  // namespace shoal::bench
