#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/time.h"

namespace shoal::telemetry {

/// Counts of latencies in buckets that grow with them: 8 per power of two.
///
/// Buckets of 8 ns up to 64 ns, then each power of two in 8 equal parts up to 2^42 ns (73 minutes);
/// what is longer counts in the last. A bucket's middle is within 1/16 of everything in it (from
/// 64 ns on), so a quantile is within 1/8 of the true one. A plain value; not thread-safe.
class LatencyHistogram {
 public:
  static constexpr int kBucketsPerOctave = 8;
  /// Octave 0 is [0, 64 ns), octave k is [2^(k+5), 2^(k+6)) ns.
  static constexpr int kOctaveCount = 37;
  static constexpr int kBucketCount = kOctaveCount * kBucketsPerOctave;

  /// Negative counts as 0.
  static constexpr int BucketOf(Duration latency) {
    const int64_t ns = latency.count();
    if (ns < 64) return ns < 0 ? 0 : static_cast<int>(ns >> 3);
    const int exponent = static_cast<int>(std::bit_width(static_cast<uint64_t>(ns))) - 1;
    const int bucket =
        (exponent - 5) * kBucketsPerOctave + static_cast<int>((ns >> (exponent - 3)) & 7);
    return bucket < kBucketCount ? bucket : kBucketCount - 1;
  }

  /// The least latency of a bucket; of kBucketCount, the end of the last.
  static constexpr Duration LowerBound(int bucket) {
    const int octave = bucket / kBucketsPerOctave;
    const int64_t part = bucket % kBucketsPerOctave;
    return Duration(octave == 0 ? part * 8 : (8 + part) << (octave + 2));
  }

  void Record(Duration latency, int64_t count = 1) { AddToBucket(BucketOf(latency), count); }
  void AddToBucket(int bucket, int64_t count) { counts_[static_cast<size_t>(bucket)] += count; }
  void Merge(const LatencyHistogram& other);

  int64_t BucketCount(int bucket) const { return counts_[static_cast<size_t>(bucket)]; }
  int64_t TotalCount() const;

  /// How many lie below 2^exponent ns, for exponents of 6 to 42.
  int64_t CountBelowPower(int exponent) const;

  /// The middle of the bucket that holds the ceil(q x count)-th smallest, q in [0, 1]; 0 if empty.
  Duration Quantile(double q) const;

 private:
  std::array<int64_t, kBucketCount> counts_{};
};

}  // namespace shoal::telemetry
