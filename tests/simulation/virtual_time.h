#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/time.h"

namespace shoal::simulation {

/// A seeded generator whose numbers are the same everywhere (SplitMix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  /// A number in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }
  Duration Between(Duration low, Duration high) {
    return Duration{Between(low.count(), high.count())};
  }
  bool OneIn(int64_t count) { return Between(1, count) == 1; }

 private:
  uint64_t state_;
};

/// Virtual time: what is planned happens in order of its moments, and of planning among equals.
class EventQueue {
 public:
  Instant now() const { return now_; }

  void At(Instant when, std::function<void()> what) {
    planned_.emplace(std::pair{when < now_ ? now_ : when, ++count_}, std::move(what));
  }
  void After(Duration delay, std::function<void()> what) { At(now_ + delay, std::move(what)); }

  /// Moves on to the next planned event and runs it; false when there is none before `end`.
  bool RunNext(Instant end) {
    const auto first = planned_.begin();
    if (first == planned_.end() || first->first.first > end) return false;
    now_ = first->first.first;
    const std::function<void()> what = std::move(first->second);
    planned_.erase(first);
    what();
    return true;
  }

 private:
  std::map<std::pair<Instant, uint64_t>, std::function<void()>> planned_;
  uint64_t count_ = 0;
  Instant now_{};
};

/// A hash of everything done, in order (FNV-1a).
class ActionLog {
 public:
  void Add(uint64_t word) {
    for (int i = 0; i < 8; ++i) {
      hash_ = (hash_ ^ (word >> (8 * i) & 0xFF)) * 0x100000001B3;
    }
    ++size_;
  }
  uint64_t hash() const { return hash_; }
  int64_t size() const { return size_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325;
  int64_t size_ = 0;
};

}  // namespace shoal::simulation
