#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "server/plan/call.h"
#include "server/plan/distribution.h"
#include "server/runtime/stored_array.h"
#include "server/runtime/workers.h"

namespace shoal::runtime {

inline constexpr WorkerId kNoWorker{-1};

/// A contiguous piece of an array in memory.
struct Extent {
  plan::Range elements;
  std::byte* data = nullptr;
  WorkerId worker = kNoWorker;  ///< Whose memory it is; none: the front end's.
  /// The way to its bytes where the host cannot touch them (staging.h); null: it can.
  device::Stream* way = nullptr;
};

/// An array as pieces in order, without gaps: what ops read and write, wherever it lies.
///
/// A view: `owner` keeps the memory alive.
struct Operand {
  plan::ArrayType type;
  absl::InlinedVector<Extent, 1> extents;
  std::shared_ptr<const void> owner;

  int64_t item_bytes() const { return kernels::ItemBytes(type.dtype); }
  int64_t element_count() const { return type.shape.element_count(); }
  int64_t bytes() const { return element_count() * item_bytes(); }

  /// Whether the host can touch all of it.
  bool host_addressable() const {
    return std::all_of(extents.begin(), extents.end(),
                       [](const Extent& extent) { return extent.way == nullptr; });
  }

  /// The extent in which all of `elements` lie, or null where they straddle extents. For empty
  /// ranges, one that must not be touched.
  const Extent* Holding(plan::Range elements) const;

  /// Where `elements` lie in one piece, or null where they straddle extents.
  std::byte* Locate(plan::Range elements) const;

  /// Calls `use(extent, data, part)` for each part of the array's bytes `bytes` that lies in one
  /// extent, in order; `data` is where.
  template <typename Use>
  void ForEachPart(plan::Range bytes, Use use) const;

  /// Copies `elements` to `destination`. Host-addressable operands only (checked).
  void Gather(plan::Range elements, std::byte* destination) const;
};

template <typename Use>
void Operand::ForEachPart(plan::Range bytes, Use use) const {
  for (const Extent& extent : extents) {
    const int64_t extent_begin = extent.elements.begin * item_bytes();
    const plan::Range part{std::max(bytes.begin, extent_begin),
                           std::min(bytes.end, extent.elements.end * item_bytes())};
    if (part.begin < part.end) use(extent, extent.data + (part.begin - extent_begin), part);
  }
}

/// One contiguous piece of front-end memory (or a lease).
Operand HostOperand(plan::ArrayType type, std::byte* data, std::shared_ptr<const void> owner);

/// The array's shards; of a replicated array, one replica.
Operand ArrayOperand(const StoredArray& array, std::shared_ptr<const void> owner);

/// One replica of a replicated array, by rank.
Operand ReplicaOperand(const StoredArray& array, size_t rank, std::shared_ptr<const void> owner);

/// New memory of the workers for an array of one call, contents undefined: in blocks over all of
/// them, or, below `scatter_bytes_min`, on the emptiest.
///
/// Errors:
///   RESOURCE_EXHAUSTED  a worker has no room for its shard; nothing stays allocated.
absl::StatusOr<Operand> NewWorkerOperand(const Workers& workers, const plan::ArrayType& type,
                                         int64_t scatter_bytes_min);

}  // namespace shoal::runtime
