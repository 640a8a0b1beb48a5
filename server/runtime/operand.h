#pragma once

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

  /// Where `elements` lie in one piece, or null where they straddle extents. Empty ranges have a
  /// place that must not be touched.
  std::byte* Locate(plan::Range elements) const;

  /// Copies `elements` to `destination`.
  void Gather(plan::Range elements, std::byte* destination) const;
};

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
