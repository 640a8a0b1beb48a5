#include "server/telemetry/throughput_shard.h"

#include <algorithm>
#include <bit>

namespace shoal::telemetry::internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

template <Access kAccess>
void Bump(Counter& counter, int64_t amount) {
  if constexpr (kAccess == Access::kExclusive) {
    counter.store(counter.load(kRelaxed) + amount, kRelaxed);
  } else {
    counter.fetch_add(amount, kRelaxed);
  }
}

template <Access kAccess>
void Raise(Counter& counter, int64_t value) {
  int64_t seen = counter.load(kRelaxed);
  if constexpr (kAccess == Access::kExclusive) {
    if (value > seen) counter.store(value, kRelaxed);
  } else {
    while (value > seen && !counter.compare_exchange_weak(seen, value, kRelaxed)) {
    }
  }
}

size_t SizeClassOf(const CallSample& sample) {
  const uint64_t bytes =
      static_cast<uint64_t>(sample.bytes_in) + static_cast<uint64_t>(sample.bytes_out);
  return static_cast<size_t>(std::min(static_cast<int>(std::bit_width(bytes)), kSizeClasses - 1));
}

}  // namespace

void AddRow(const RowCounts& from, ThroughputRow& to) {
  for (int octave = 0; octave < LatencyHistogram::kOctaveCount; ++octave) {
    const OctaveCounts* counts = from.octaves[static_cast<size_t>(octave)].get();
    if (counts == nullptr) continue;
    for (int i = 0; i < LatencyHistogram::kBucketsPerOctave; ++i) {
      const int64_t count = counts->counts[static_cast<size_t>(i)].load(kRelaxed);
      to.latencies.AddToBucket(octave * LatencyHistogram::kBucketsPerOctave + i, count);
      to.call_count += count;
    }
  }
  to.failed_count += from.failed_count.load(kRelaxed);
  to.bytes_in += from.bytes_in.load(kRelaxed);
  to.bytes_out += from.bytes_out.load(kRelaxed);
  to.latency_sum += Duration(from.latency_sum_ns.load(kRelaxed));
  to.latency_max = std::max(to.latency_max, Duration(from.latency_max_ns.load(kRelaxed)));
  const auto phase = [&from](size_t i) { return Duration(from.phase_ns[i].load(kRelaxed)); };
  to.phase_sum += {.queue = phase(0),
                   .transfer_in = phase(1),
                   .compute = phase(2),
                   .collective = phase(3),
                   .transfer_out = phase(4)};
}

template <Access kAccess>
void ThroughputShard::Add(size_t series, const CallSample& sample, int64_t count) {
  SizeClasses& classes = series_[series].GetOrCreate(allocated_bytes_);
  RowCounts& row = classes.rows[SizeClassOf(sample)].GetOrCreate(allocated_bytes_);
  const Duration latency = std::max(sample.latency, Duration::zero());
  const auto bucket = static_cast<size_t>(LatencyHistogram::BucketOf(latency));
  constexpr size_t kPerOctave = LatencyHistogram::kBucketsPerOctave;
  OctaveCounts& octave = row.octaves[bucket / kPerOctave].GetOrCreate(allocated_bytes_);

  Bump<kAccess>(octave.counts[bucket % kPerOctave], count);
  if (sample.failed) Bump<kAccess>(row.failed_count, count);
  Bump<kAccess>(row.bytes_in, sample.bytes_in * count);
  Bump<kAccess>(row.bytes_out, sample.bytes_out * count);
  Bump<kAccess>(row.latency_sum_ns, latency.count() * count);
  Raise<kAccess>(row.latency_max_ns, latency.count());
  const PhaseTimes& phases = sample.phases;
  const std::array<int64_t, 5> phase_ns = {phases.queue.count(), phases.transfer_in.count(),
                                           phases.compute.count(), phases.collective.count(),
                                           phases.transfer_out.count()};
  for (size_t i = 0; i < phase_ns.size(); ++i) {
    if (phase_ns[i] != 0) Bump<kAccess>(row.phase_ns[i], phase_ns[i] * count);
  }
}

template void ThroughputShard::Add<Access::kExclusive>(size_t, const CallSample&, int64_t);
template void ThroughputShard::Add<Access::kShared>(size_t, const CallSample&, int64_t);

}  // namespace shoal::telemetry::internal
