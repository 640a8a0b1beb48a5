#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "server/core/slab.h"

namespace shoal::core {

/// Timers named by row index, in a hierarchy of wheels (Varghese and Lauck, SOSP 1987).
///
/// Eight wheels of 64 slots cover every `Instant`. A timer fires at the first tick of 2^20 ns
/// (about 1 ms) not before its moment: never early, at most one tick late. Arm and Disarm are O(1);
/// a timer moves down at most once a wheel, and only if it lives that long. Rows that were never
/// armed cost nothing beyond the array behind the largest index armed.
class TimerWheel {
 public:
  /// Arms the timer of row `index`, which is not armed, for `when`. A moment already past fires
  /// at the next tick.
  void Arm(uint32_t index, Instant when);

  /// Disarms the timer of row `index`, which is armed.
  void Disarm(uint32_t index);

  bool IsArmed(uint32_t index) const {
    return index < timers_.size() && timers_[index].slot != kNoSlot;
  }

  /// Moves time on to `now` and calls `fire(index)` for each timer due, in order of their ticks,
  /// already disarmed. `fire` may arm and disarm timers, and those of the same tick too.
  template <typename Fire>
  void Advance(Instant now, Fire fire) {
    const uint64_t target = TickBefore(now);
    while (armed_count_ > 0) {
      const uint64_t tick = NextTick();
      if (tick > target) break;
      const uint32_t index = PopOrSort(tick);
      if (index != kNone) fire(index);
    }
    if (target > cursor_) cursor_ = target;
  }

  /// A moment at or before which no timer is due, and after which one may be; kNever when none is
  /// armed. It may come early: `Advance` then only sorts timers finer.
  Instant NextWakeup() const;

  int64_t armed_count() const { return armed_count_; }

 private:
  static constexpr int kTickBits = 20;
  static constexpr int kSlotBits = 6;
  static constexpr size_t kSlotCount = size_t{1} << kSlotBits;
  static constexpr int kWheelCount = 8;
  static constexpr uint16_t kNoSlot = UINT16_MAX;

  struct Timer {
    uint64_t tick = 0;
    uint32_t previous = kNone;
    uint32_t next = kNone;
    uint16_t slot = kNoSlot;  // wheel * kSlotCount + slot in the wheel.
  };
  struct Wheel {
    uint64_t occupied = 0;  // Bit s: slot s has a timer.
    std::array<uint32_t, kSlotCount> heads;

    Wheel() { heads.fill(kNone); }
  };

  static uint64_t TickBefore(Instant when);
  static uint64_t TickAfter(Instant when);

  void Insert(uint32_t index);
  void Unlink(uint32_t index);
  // Where the first occupied slot begins; some timer is armed.
  uint64_t NextTick() const;
  // Moves the cursor to `tick`, which is `NextTick()`. Takes one timer due then, or sorts a slot
  // of a coarser wheel into finer ones and returns kNone.
  uint32_t PopOrSort(uint64_t tick);

  std::array<Wheel, kWheelCount> wheels_;
  std::vector<Timer> timers_;  // By row index.
  uint64_t cursor_ = 0;        // Every earlier tick has fired, and this one but within Advance.
  int64_t armed_count_ = 0;
};

}  // namespace shoal::core
