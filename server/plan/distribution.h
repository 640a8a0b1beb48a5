#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "kernels/shape.h"

namespace shoal::plan {

using kernels::ArrayType;
using kernels::Shape;

enum class DistributionKind : uint8_t {
  kBlock = 1,       ///< Axis 0 cut into one range of rows per worker.
  kReplicated = 2,  ///< Every worker holds the whole array.
  kSingle = 3,      ///< One worker holds the whole array.
};

/// How an array lies over workers. `workers` is in rank order, without repeats, never empty;
/// for kSingle it has one entry.
struct Distribution {
  DistributionKind kind = DistributionKind::kBlock;
  std::vector<WorkerId> workers;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// The half-open range [begin, end).
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Part `part` of [0, count) cut into `parts` ranges: the first count % parts ranges are one
/// longer than the rest. Ranges may be empty.
Range BlockRange(int64_t count, int parts, int part);

/// What one worker holds of an array: elements [elements.begin, elements.end) in C order.
struct ShardPlan {
  WorkerId worker;
  Range elements;

  friend bool operator==(const ShardPlan&, const ShardPlan&) = default;
};

/// The shards of an array, in rank order, one per worker of `distribution` (empty ones included).
std::vector<ShardPlan> PlanShards(const Shape& shape, const Distribution& distribution);

}  // namespace shoal::plan
