#include "client/src/buffer_pool.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/units.h"

namespace shoal::internal {
namespace {

// Smaller blocks the heap itself reuses without going to the kernel.
constexpr int64_t kPooledFrom = 64 * kKiB;
constexpr int64_t kStep = 64 * kKiB;

}  // namespace

class BufferPool::Block final : public Storage {
 public:
  Block(std::shared_ptr<BufferPool> pool, Kept kept)
      : Storage(kept.data, kept.capacity), pool_(std::move(pool)) {}
  ~Block() override { pool_->GiveBack({data(), capacity()}); }

 private:
  const std::shared_ptr<BufferPool> pool_;  // Shared: arrays outlive the Client.
};

BufferPool::~BufferPool() {
  for (const Kept& block : kept_) FreeAligned(block.data);
}

absl::StatusOr<StorageRef> BufferPool::Allocate(int64_t bytes) {
  if (bytes < kPooledFrom || kept_bytes_max_ == 0) return AllocateHeap(bytes);
  {
    const std::lock_guard lock(mutex_);
    // A block may be a quarter larger than asked for, so that sizes that vary a little still meet.
    const auto fits = std::find_if(kept_.begin(), kept_.end(), [bytes](const Kept& block) {
      return block.capacity >= bytes && block.capacity / 5 * 4 <= bytes;
    });
    if (fits != kept_.end()) {
      const Kept block = *fits;
      kept_.erase(fits);
      kept_bytes_ -= block.capacity;
      return std::make_shared<Block>(shared_from_this(), block);
    }
  }
  if (bytes > INT64_MAX - kStep) return AllocateHeap(bytes);  // Fails, and says so.
  const int64_t capacity = (bytes + kStep - 1) / kStep * kStep;
  SHOAL_ASSIGN_OR_RETURN(std::byte* const data, AllocateAligned(capacity));
  return std::make_shared<Block>(shared_from_this(), Kept{data, capacity});
}

int64_t BufferPool::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

void BufferPool::GiveBack(Kept block) {
  std::list<Kept> dropped;
  {
    const std::lock_guard lock(mutex_);
    kept_.push_front(block);
    kept_bytes_ += block.capacity;
    while (kept_bytes_ > kept_bytes_max_) {
      kept_bytes_ -= kept_.back().capacity;
      dropped.splice(dropped.end(), kept_, std::prev(kept_.end()));
    }
  }
  for (const Kept& old : dropped) FreeAligned(old.data);  // Unmapping takes long: not in the lock.
}

}  // namespace shoal::internal
