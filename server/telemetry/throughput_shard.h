#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "server/telemetry/throughput.h"

// The inside of ThroughputTable: rows made on first use, and two ways of adding to them.
namespace shoal::telemetry::internal {

/// Who may write to a shard at the same moment.
enum class Access {
  kExclusive,  ///< The caller holds the shard: loads and stores do.
  kShared,     ///< Anybody: atomic additions.
};

inline constexpr int kSizeClasses = 64;

/// Owns a T that is made on first use. Readers may look at any time.
template <typename T>
class Lazy {
 public:
  Lazy() = default;
  ~Lazy() { delete pointer_.load(std::memory_order_relaxed); }
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;

  const T* get() const { return pointer_.load(std::memory_order_acquire); }

  /// Creates it if need be. Of several that do at once, one wins and the others use its.
  template <typename... Args>
  T& GetOrCreate(std::atomic<int64_t>& allocated_bytes, const Args&... args) {
    if (T* made = pointer_.load(std::memory_order_acquire)) [[likely]] {
      return *made;
    }
    T* fresh = new T(args...);
    T* expected = nullptr;
    if (!pointer_.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
      delete fresh;
      return *expected;
    }
    allocated_bytes.fetch_add(static_cast<int64_t>(sizeof(T)), std::memory_order_relaxed);
    return *fresh;
  }

 private:
  std::atomic<T*> pointer_{nullptr};
};

using Counter = std::atomic<int64_t>;

/// Buckets of one octave: one cache line.
struct alignas(64) OctaveCounts {
  std::array<Counter, LatencyHistogram::kBucketsPerOctave> counts{};
};

/// One row's share of one shard.
struct alignas(64) RowCounts {
  Counter failed_count{0};
  Counter bytes_in{0};
  Counter bytes_out{0};
  Counter latency_sum_ns{0};
  Counter latency_max_ns{0};
  std::array<Counter, 5> phase_ns{};  ///< In the order of PhaseTimes.
  std::array<Lazy<OctaveCounts>, LatencyHistogram::kOctaveCount> octaves{};
};

/// Adds a shard's share of a row to the row; leaves the key alone.
void AddRow(const RowCounts& from, ThroughputRow& to);

/// The rows of one op, route and plane, by size class.
struct SizeClasses {
  std::array<Lazy<RowCounts>, kSizeClasses> rows{};
};

/// What one CPU recorded. `series` numbers op, route and plane together.
class alignas(64) ThroughputShard {
 public:
  explicit ThroughputShard(size_t series_count) : series_(series_count) {}

  bool TryTake() { return !taken_.exchange(true, std::memory_order_acquire); }
  void GiveBack() { taken_.store(false, std::memory_order_release); }

  /// kExclusive: between TryTake and GiveBack.
  template <Access kAccess>
  void Add(size_t series, const CallSample& sample, int64_t count);

  /// Calls `visit` with every row and its key, series x kSizeClasses + class, in rising order.
  template <typename Visit>
  void ForEachRow(const Visit& visit) const {
    for (size_t series = 0; series < series_.size(); ++series) {
      const SizeClasses* classes = series_[series].get();
      if (classes == nullptr) continue;
      for (size_t size = 0; size < classes->rows.size(); ++size) {
        const RowCounts* row = classes->rows[size].get();
        if (row != nullptr) visit(series * kSizeClasses + size, *row);
      }
    }
  }

  int64_t allocated_bytes() const { return allocated_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> taken_{false};
  std::atomic<int64_t> allocated_bytes_{0};
  std::vector<Lazy<SizeClasses>> series_;
};

}  // namespace shoal::telemetry::internal
