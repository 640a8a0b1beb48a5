#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "shoal/session.h"

namespace shoal::internal {

/// What a bulk submission has in common.
struct BulkGroup {
  BulkCallback on_report;  // In the session's thread only.
  // The rest is guarded by the session's lock.
  int64_t unsubmitted = 0;  ///< Tasks of a flood that have no id yet.
  int64_t pending = 0;      ///< Tasks that have not ended, those included.
  int64_t ok_count = 0;
  int64_t failed_count = 0;
  absl::Status first_error;
  bool broken = false;  ///< The stream ended before the last of them did.
  std::optional<std::chrono::steady_clock::time_point> sent_at;
};
// Shared by the table, the flood's caller, and reports on their way.
using BulkRef = std::shared_ptr<BulkGroup>;

/// The tasks that have an id and have not ended, with what is to be told to whom.
///
/// Ids count up and are never reused. Tasks live in blocks of 64 consecutive ids, so that finding
/// one is a shift and a bit test, and a block's memory goes when its last task ends. A bulk
/// submission has blocks of its own (the ids left over in the block before are skipped) and needs
/// nothing per task but a bit.
///
/// Thread-safety: one thread at a time.
class TaskTable {
 public:
  /// A task of its own; returns its id.
  uint64_t Add(TaskCallback callback);

  /// `count` >= 1 tasks of `group` with consecutive ids; returns the first.
  uint64_t AddBulk(const BulkRef& group, int64_t count);

  bool Contains(uint64_t id) const;

  /// A task that has ended, by what was told when it was added.
  struct Ended {
    uint64_t id = 0;
    TaskCallback callback;       ///< Of a task of its own.
    BulkGroup* group = nullptr;  ///< Of a bulk one. Maybe not kept alive here any more.
  };
  /// Forgets a task; nothing if there is none of that id (then the peer is at fault).
  std::optional<Ended> Remove(uint64_t id);
  /// The same for a bulk task, without looking for a callback: the fast path. Null: not a bulk
  /// task, or none of that id.
  BulkGroup* RemoveBulk(uint64_t id);

  /// The ids of all tasks, in order.
  std::vector<uint64_t> Ids() const;
  int64_t count() const { return count_; }

 private:
  static constexpr uint64_t kBlockTasks = 64;
  using Callbacks = std::array<TaskCallback, kBlockTasks>;
  struct Block {
    uint64_t live = 0;                     // Bit i: task i of the block has not ended.
    BulkRef group;                         // Of a bulk block; else null.
    std::unique_ptr<Callbacks> callbacks;  // Of any other.
  };

  Block* Find(uint64_t id);
  const Block* Find(uint64_t id) const;
  void OpenBlock();
  void Forget(Block* block, uint64_t id);

  std::deque<Block> blocks_;
  uint64_t first_block_ = 0;  // The number of blocks_[0]: id / 64.
  uint64_t next_id_ = 1;
  int64_t count_ = 0;
};

}  // namespace shoal::internal
