#include "server/collective/local/execute.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "base/copy.h"
#include "base/units.h"
#include "server/collective/local/combine.h"

namespace shoal::collective {
namespace {

// A chunk of a broadcast is read from memory once and from this core's cache for every further
// target; and it is short enough to share evenly.
constexpr int64_t kChunkBytes = 256 * kKiB;

int64_t Chunks(int64_t bytes) { return (bytes + kChunkBytes - 1) / kChunkBytes; }

void RunChunk(const CopyStep& step, int64_t offset, int64_t footprint_bytes) {
  const int64_t bytes = std::min(kChunkBytes, step.bytes - offset);
  for (std::byte* const target : step.targets) {
    CopyBytes(target + offset, step.source + offset, bytes, footprint_bytes);
  }
}

// A piece is reduced into a buffer of its own and written when all sources have been read, so
// that a target may be a source.
void RunChunk(const Plan& plan, const ReduceStep& step, int64_t offset) {
  alignas(64) std::array<std::byte, kCombineElementsMax * 16> buffer;
  const int64_t item = kernels::ItemBytes(plan.dtype);
  const int64_t piece = kCombineElementsMax * item;
  const int64_t end = std::min(offset + kChunkBytes, step.bytes);
  absl::InlinedVector<const std::byte*, 8> sources(step.sources.size());
  for (; offset < end; offset += piece) {
    const int64_t bytes = std::min(piece, end - offset);
    for (size_t i = 0; i < sources.size(); ++i) sources[i] = step.sources[i] + offset;
    Combine(plan.dtype, plan.op, sources, {buffer.data(), bytes});
    for (std::byte* const target : step.targets) {
      std::memcpy(target + offset, buffer.data(), static_cast<size_t>(bytes));
    }
  }
}

/// Chunks of all steps, numbered through.
class ChunkList {
 public:
  explicit ChunkList(const Plan& plan) : plan_(plan) {
    for (const CopyStep& step : plan.copies) {
      Add(step.targets.empty() ? 0 : step.bytes);
      footprint_bytes_ += step.bytes * static_cast<int64_t>(1 + step.targets.size());
    }
    for (const ReduceStep& step : plan.reductions) {
      Add(step.bytes);
      const size_t arrays = step.sources.size() + step.targets.size();
      footprint_bytes_ += step.bytes * static_cast<int64_t>(arrays);
    }
  }

  int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

  void Run(int64_t chunk) const {
    const auto step =
        static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), chunk) - ends_.begin());
    const int64_t offset = (chunk - (step == 0 ? 0 : ends_[step - 1])) * kChunkBytes;
    if (step < plan_.copies.size()) {
      RunChunk(plan_.copies[step], offset, footprint_bytes_);
    } else {
      RunChunk(plan_, plan_.reductions[step - plan_.copies.size()], offset);
    }
  }

 private:
  void Add(int64_t bytes) { ends_.push_back(size() + Chunks(bytes)); }

  const Plan& plan_;
  int64_t footprint_bytes_ = 0;
  absl::InlinedVector<int64_t, 8> ends_;
};

}  // namespace

bool Execute(const Plan& plan, const ExecuteOptions& options) {
  const ChunkList chunks(plan);
  const auto is_stopped = [&] {
    return options.stopped != nullptr && options.stopped->load(std::memory_order_relaxed);
  };
  if (options.team == nullptr || plan.MovedBytes() < options.spread_bytes_min) {
    for (int64_t i = 0; i < chunks.size() && !is_stopped(); ++i) chunks.Run(i);
  } else {
    options.team->ParallelFor(chunks.size(), [&](int64_t i) {
      if (!is_stopped()) chunks.Run(i);
    });
  }
  return !is_stopped();
}

}  // namespace shoal::collective
