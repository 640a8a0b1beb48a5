#include "server/runtime/operand.h"

#include <algorithm>
#include <cstring>

#include "base/status.h"

namespace shoal::runtime {

std::byte* Operand::Locate(plan::Range elements) const {
  for (const Extent& extent : extents) {
    if (elements.begin >= extent.elements.end && elements.size() > 0) continue;
    if (elements.end > extent.elements.end) return nullptr;
    return extent.data + (elements.begin - extent.elements.begin) * item_bytes();
  }
  return nullptr;
}

void Operand::Gather(plan::Range elements, std::byte* destination) const {
  for (const Extent& extent : extents) {
    const int64_t begin = std::max(elements.begin, extent.elements.begin);
    const int64_t end = std::min(elements.end, extent.elements.end);
    if (begin >= end) continue;
    const auto bytes = static_cast<size_t>((end - begin) * item_bytes());
    std::memcpy(destination, extent.data + (begin - extent.elements.begin) * item_bytes(), bytes);
    destination += bytes;
  }
}

Operand HostOperand(plan::ArrayType type, std::byte* data, std::shared_ptr<const void> owner) {
  Operand operand{std::move(type), {}, std::move(owner)};
  operand.extents.push_back({{0, operand.element_count()}, data, kNoWorker});
  return operand;
}

Operand ReplicaOperand(const StoredArray& array, size_t rank, std::shared_ptr<const void> owner) {
  const Shard& shard = array.shards[rank];
  Operand operand{array.type, {}, std::move(owner)};
  operand.extents.push_back({shard.elements, shard.buffer.data(), shard.worker});
  return operand;
}

absl::StatusOr<Operand> NewWorkerOperand(const Workers& workers, const plan::ArrayType& type,
                                         int64_t scatter_bytes_min) {
  const int64_t bytes = type.shape.element_count() * kernels::ItemBytes(type.dtype);
  plan::Distribution distribution{plan::DistributionKind::kBlock, workers.ids()};
  if (bytes < scatter_bytes_min) {
    distribution = {plan::DistributionKind::kSingle, {workers.Emptiest()}};
  }
  SHOAL_ASSIGN_OR_RETURN(auto array, workers.NewArray(type, std::move(distribution)));
  const StoredArray& held = *array;
  return ArrayOperand(held, std::move(array));
}

Operand ArrayOperand(const StoredArray& array, std::shared_ptr<const void> owner) {
  if (array.distribution.kind != plan::DistributionKind::kBlock) {
    return ReplicaOperand(array, 0, std::move(owner));
  }
  Operand operand{array.type, {}, std::move(owner)};
  for (const Shard& shard : array.shards) {
    operand.extents.push_back({shard.elements, shard.buffer.data(), shard.worker});
  }
  return operand;
}

}  // namespace shoal::runtime
