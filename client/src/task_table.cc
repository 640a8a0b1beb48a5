#include "client/src/task_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shoal::internal {
namespace {

constexpr uint64_t Bit(uint64_t id) { return uint64_t{1} << (id % 64); }

}  // namespace

TaskTable::Block* TaskTable::Find(uint64_t id) {
  return const_cast<Block*>(std::as_const(*this).Find(id));
}

const TaskTable::Block* TaskTable::Find(uint64_t id) const {
  const uint64_t index = id / kBlockTasks - first_block_;  // An older id wraps to a huge index.
  if (index >= blocks_.size()) return nullptr;
  const Block& block = blocks_[index];
  return (block.live & Bit(id)) != 0 ? &block : nullptr;
}

/// Makes the block of `next_id_` the last one.
void TaskTable::OpenBlock() {
  const uint64_t number = next_id_ / kBlockTasks;
  if (blocks_.empty()) first_block_ = number;
  while (first_block_ + blocks_.size() <= number) blocks_.emplace_back();
}

uint64_t TaskTable::Add(TaskCallback callback) {
  OpenBlock();
  if (blocks_.back().group != nullptr) {
    next_id_ = (next_id_ / kBlockTasks + 1) * kBlockTasks;
    OpenBlock();
  }
  Block& block = blocks_.back();
  if (block.callbacks == nullptr) block.callbacks = std::make_unique<Callbacks>();
  const uint64_t id = next_id_++;
  block.live |= Bit(id);
  (*block.callbacks)[id % kBlockTasks] = std::move(callback);
  ++count_;
  return id;
}

uint64_t TaskTable::AddBulk(const BulkRef& group, int64_t count) {
  SHOAL_CHECK(count >= 1);
  OpenBlock();
  const bool untouched = next_id_ % kBlockTasks == 0 && blocks_.back().live == 0;
  if (blocks_.back().group != group && !untouched) {
    next_id_ = (next_id_ / kBlockTasks + 1) * kBlockTasks;
  }
  const uint64_t first = next_id_;
  for (int64_t left = count; left > 0;) {
    OpenBlock();
    Block& block = blocks_.back();
    block.group = group;
    const uint64_t at = next_id_ % kBlockTasks;
    const uint64_t taken = std::min(kBlockTasks - at, static_cast<uint64_t>(left));
    const uint64_t ones = taken == kBlockTasks ? ~uint64_t{0} : (uint64_t{1} << taken) - 1;
    block.live |= ones << at;
    next_id_ += taken;
    left -= static_cast<int64_t>(taken);
  }
  count_ += count;
  return first;
}

bool TaskTable::Contains(uint64_t id) const { return Find(id) != nullptr; }

std::optional<TaskTable::Ended> TaskTable::Remove(uint64_t id) {
  Block* block = Find(id);
  if (block == nullptr) return std::nullopt;
  Ended ended{.id = id, .callback = {}, .group = block->group.get()};
  if (block->callbacks != nullptr) {
    ended.callback = std::move((*block->callbacks)[id % kBlockTasks]);
  }
  Forget(block, id);
  return ended;
}

BulkGroup* TaskTable::RemoveBulk(uint64_t id) {
  Block* block = Find(id);
  if (block == nullptr || block->group == nullptr) return nullptr;
  BulkGroup* group = block->group.get();
  Forget(block, id);
  return group;
}

/// Drops a task, and blocks from the front whose tasks have all ended. The last block stays: it may
/// go on.
void TaskTable::Forget(Block* block, uint64_t id) {
  block->live &= ~Bit(id);
  --count_;
  if (block->live != 0) return;
  block->group.reset();
  block->callbacks.reset();
  while (blocks_.size() > 1 && blocks_.front().live == 0) {
    blocks_.pop_front();
    ++first_block_;
  }
}

std::vector<uint64_t> TaskTable::Ids() const {
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    for (uint64_t at = 0; at < kBlockTasks; ++at) {
      const uint64_t id = (first_block_ + i) * kBlockTasks + at;
      if ((blocks_[i].live & Bit(id)) != 0) ids.push_back(id);
    }
  }
  return ids;
}

}  // namespace shoal::internal
