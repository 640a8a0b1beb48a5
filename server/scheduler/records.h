#pragma once

#include <cstdint>

#include "base/time.h"
#include "server/core/list.h"
#include "server/core/slab.h"
#include "server/scheduler/placement.h"

// The scheduler core's own records; nobody else includes this but its sources.

namespace shoal::scheduler {

/// Where a piece is. Each state but the last two has its list, and is in no other.
enum class PieceState : uint8_t {
  kFree,      ///< The row is not in use.
  kFloating,  ///< Waits in the light or the heavy queue.
  kParked,    ///< Floating, stepped aside: it waits for memory while others pass.
  kPinned,    ///< Waits in its worker's pinned queue.
  kAssigned,  ///< Has an attempt in flight.
  kStopping,  ///< Its task has ended, its attempt not yet; it still holds slot and memory.
  kDone,      ///< Ended well; waits for its siblings.
  kNew,       ///< Being admitted, or between two states within one event.
};

/// One piece of a task. The row of piece 0 is the task's too: its index and task generation are
/// the task's id. The row's index and attempt generation are the id of its attempt.
struct PieceRow {
  // Of the task; meaningful in the row of piece 0 only.
  uint64_t tag = 0;
  Instant deadline = kNever;
  uint32_t task_generation = 1;
  int32_t unfinished = 0;  // Pieces that have not ended well yet.

  // Of the piece.
  int64_t reserve_bytes = 0;
  Duration cost{};
  uint64_t sequence = 0;  // Order of admission: FIFO goes by it, also after a retry.
  core::ListLink link;    // In the list of its state, or of its worker's attempts.
  uint32_t attempt_generation = 1;
  uint32_t head = core::kNone;  // Row of piece 0.
  uint32_t next = core::kNone;  // Row of the task's next piece.
  int32_t index = 0;
  int32_t pinned = -1;
  int32_t worker = -1;  // Of the attempt in flight.
  uint32_t client = 0;  // Reserved.
  PieceState state = PieceState::kFree;
  uint8_t losses = 0;
  uint8_t priority = 0;  // Reserved.
  bool retry_safe = true;
  bool needs_inputs = false;
  bool has_deadline = false;      // Its deadline timer is armed (piece 0 only).
  bool waits_for_stored = false;  // Its memory timer is armed.

  /// Needs no memory: then it fits on every worker, always.
  bool IsLight() const { return reserve_bytes == 0; }
};
static_assert(sizeof(PieceRow) <= 104, "ten million tasks have to fit in 1.5 GiB");

using PieceSlab = core::Slab<PieceRow>;
using PieceList = core::List<PieceSlab>;

struct WorkerRow {
  uint64_t incarnation = 0;
  int64_t memory_bytes = 0;
  int64_t stored_bytes = 0;
  int64_t reserved_bytes = 0;  // Sum over its attempts in flight.
  Duration work{};             // Likewise, of their costs.
  Duration window{};
  int32_t slots = 0;
  int32_t lanes = 0;
  bool alive = false;
  bool draining = false;
  bool held_for_pinned = false;  // Its memory is kept for its oldest pinned piece.
  bool touched = false;          // Is in the list of workers to look at again.
  PieceList pinned;              // Waiting pieces pinned to it, in order of sequence.
  PieceList attempts;            // Pieces with an attempt on it, kAssigned or kStopping.

  bool TakesFloating() const { return alive && !draining; }
  bool HasSlot() const {
    return attempts.size() < slots && (attempts.size() < lanes || work < window);
  }
  int64_t free_bytes() const { return memory_bytes - stored_bytes - reserved_bytes; }
  /// Whether a piece would fit if no attempt were in flight.
  bool FitsWhenIdle(int64_t reserve_bytes) const {
    return Fits(reserve_bytes, memory_bytes - stored_bytes);
  }
};

}  // namespace shoal::scheduler
