#include "server/plan/distribution.h"

#include <algorithm>

#include "base/check.h"

namespace shoal::plan {

Range BlockRange(int64_t count, int parts, int part) {
  const int64_t base = count / parts;
  const int64_t longer = count % parts;
  const int64_t begin = base * part + std::min<int64_t>(part, longer);
  return {begin, begin + base + (part < longer ? 1 : 0)};
}

std::vector<ShardPlan> PlanShards(const Shape& shape, const Distribution& distribution) {
  SHOAL_CHECK(!distribution.workers.empty());
  const int parts = static_cast<int>(distribution.workers.size());
  std::vector<ShardPlan> shards;
  shards.reserve(distribution.workers.size());
  for (int rank = 0; rank < parts; ++rank) {
    Range elements{0, shape.element_count()};
    if (distribution.kind == DistributionKind::kBlock) {
      const Range rows = BlockRange(shape.row_count(), parts, rank);
      elements = {rows.begin * shape.row_elements(), rows.end * shape.row_elements()};
    }
    shards.push_back({distribution.workers[static_cast<size_t>(rank)], elements});
  }
  return shards;
}

}  // namespace shoal::plan
