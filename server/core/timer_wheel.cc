#include "server/core/timer_wheel.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace shoal::core {

uint64_t TimerWheel::TickBefore(Instant when) {
  return static_cast<uint64_t>(std::max<int64_t>(when.time_since_epoch().count(), 0)) >> kTickBits;
}

uint64_t TimerWheel::TickAfter(Instant when) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(when.time_since_epoch().count(), 0));
  return (ns + (uint64_t{1} << kTickBits) - 1) >> kTickBits;
}

void TimerWheel::Arm(uint32_t index, Instant when) {
  if (index >= timers_.size()) timers_.resize(std::max<size_t>(index + 1, timers_.size() * 2));
  SHOAL_CHECK(timers_[index].slot == kNoSlot);
  timers_[index].tick = std::max(TickAfter(when), cursor_ + 1);
  Insert(index);
  ++armed_count_;
}

void TimerWheel::Disarm(uint32_t index) {
  SHOAL_CHECK(IsArmed(index));
  Unlink(index);
  --armed_count_;
}

// The wheel of a timer is the highest 6-bit digit in which its tick differs from the cursor. The
// cursor never passes the start of an occupied slot without sorting it, so that digit stays the
// highest to differ until then.
void TimerWheel::Insert(uint32_t index) {
  Timer& timer = timers_[index];
  const uint64_t difference = timer.tick ^ cursor_;
  const int wheel = difference == 0 ? 0 : (63 - std::countl_zero(difference)) / kSlotBits;
  const size_t slot = (timer.tick >> (wheel * kSlotBits)) % kSlotCount;
  Wheel& w = wheels_[static_cast<size_t>(wheel)];
  timer.slot = static_cast<uint16_t>(static_cast<size_t>(wheel) * kSlotCount + slot);
  timer.previous = kNone;
  timer.next = w.heads[slot];
  if (timer.next != kNone) timers_[timer.next].previous = index;
  w.heads[slot] = index;
  w.occupied |= uint64_t{1} << slot;
}

void TimerWheel::Unlink(uint32_t index) {
  Timer& timer = timers_[index];
  Wheel& w = wheels_[timer.slot / kSlotCount];
  const size_t slot = timer.slot % kSlotCount;
  if (timer.next != kNone) timers_[timer.next].previous = timer.previous;
  if (timer.previous != kNone) {
    timers_[timer.previous].next = timer.next;
  } else {
    w.heads[slot] = timer.next;
    if (timer.next == kNone) w.occupied &= ~(uint64_t{1} << slot);
  }
  timer.slot = kNoSlot;
}

uint64_t TimerWheel::NextTick() const {
  for (int wheel = 0; wheel < kWheelCount; ++wheel) {
    const uint64_t occupied = wheels_[static_cast<size_t>(wheel)].occupied;
    if (occupied == 0) continue;
    const int shift = wheel * kSlotBits;
    const uint64_t above = cursor_ >> (shift + kSlotBits) << (shift + kSlotBits);
    return above | static_cast<uint64_t>(std::countr_zero(occupied)) << shift;
  }
  SHOAL_UNREACHABLE("no timer is armed");
}

uint32_t TimerWheel::PopOrSort(uint64_t tick) {
  cursor_ = tick;
  for (int wheel = 0; wheel < kWheelCount; ++wheel) {
    Wheel& w = wheels_[static_cast<size_t>(wheel)];
    if (w.occupied == 0) continue;
    const auto slot = static_cast<size_t>(std::countr_zero(w.occupied));
    if (wheel == 0) {
      const uint32_t due = w.heads[slot];
      Disarm(due);
      return due;
    }
    uint32_t index = w.heads[slot];
    w.heads[slot] = kNone;
    w.occupied &= ~(uint64_t{1} << slot);
    while (index != kNone) {
      const uint32_t next = timers_[index].next;
      Insert(index);
      index = next;
    }
    return kNone;
  }
  SHOAL_UNREACHABLE("no timer is armed");
}

Instant TimerWheel::NextWakeup() const {
  if (armed_count_ == 0) return kNever;
  const uint64_t tick = NextTick();
  const auto last = static_cast<uint64_t>(kNever.time_since_epoch().count()) >> kTickBits;
  if (tick > last) return kNever;
  return Instant{Duration{static_cast<int64_t>(tick << kTickBits)}};
}

}  // namespace shoal::core
