#include "server/runtime/operand.h"

#include "base/copy.h"
#include "base/status.h"

namespace shoal::runtime {

const Extent* Operand::Holding(plan::Range elements) const {
  for (const Extent& extent : extents) {
    if (elements.begin >= extent.elements.end && elements.size() > 0) continue;
    return elements.end > extent.elements.end ? nullptr : &extent;
  }
  return nullptr;
}

std::byte* Operand::Locate(plan::Range elements) const {
  const Extent* extent = Holding(elements);
  if (extent == nullptr) return nullptr;
  return extent->data + (elements.begin - extent->elements.begin) * item_bytes();
}

void Operand::Gather(plan::Range elements, std::byte* destination) const {
  ForEachPart({elements.begin * item_bytes(), elements.end * item_bytes()},
              [&](const Extent& extent, const std::byte* data, plan::Range part) {
                SHOAL_CHECK(extent.way == nullptr);
                CopyBytes(destination, data, part.size(), 2 * elements.size() * item_bytes());
                destination += part.size();
              });
}

Operand HostOperand(plan::ArrayType type, std::byte* data, std::shared_ptr<const void> owner) {
  Operand operand{std::move(type), {}, std::move(owner)};
  operand.extents.push_back({{0, operand.element_count()}, data, kNoWorker, nullptr});
  return operand;
}

Operand ReplicaOperand(const StoredArray& array, size_t rank, std::shared_ptr<const void> owner) {
  const Shard& shard = array.shards[rank];
  Operand operand{array.type, {}, std::move(owner)};
  operand.extents.push_back({shard.elements, shard.buffer.data(), shard.worker, shard.way});
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
    operand.extents.push_back({shard.elements, shard.buffer.data(), shard.worker, shard.way});
  }
  return operand;
}

}  // namespace shoal::runtime
