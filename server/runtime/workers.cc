#include "server/runtime/workers.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/wire/status_details.h"

namespace shoal::runtime {

Workers::Workers(std::vector<Worker> workers) : workers_(std::move(workers)) {
  for (Worker& worker : workers_) {
    ids_.push_back(worker.id);
    worker.stored = std::make_unique<memory::Budget>("stored arrays", INT64_MAX);
    if (worker.device->Info().host_addressable) continue;
    worker.way = worker.stream.get();
    host_addressable_ = false;
  }
}

Workers::~Workers() {
  for (Worker& worker : workers_) worker.stream.reset();
}

WorkerId Workers::Emptiest() const {
  const auto free_bytes = [](const Worker& worker) {
    return worker.device->Info().memory_bytes - worker.device->MemoryUsed();
  };
  const Worker* best = &workers_.front();
  for (const Worker& worker : workers_) {
    if (free_bytes(worker) > free_bytes(*best)) best = &worker;
  }
  return best->id;
}

absl::Status Workers::Complete(plan::Distribution* distribution) const {
  for (const WorkerId id : distribution->workers) {
    if (id.value >= 0 && id.value < count()) continue;
    return wire::WithResource(
        absl::NotFoundError(absl::StrCat("no worker ", id.value, "; there are ", count())),
        "worker", absl::StrCat(id.value));
  }
  if (!distribution->workers.empty()) return absl::OkStatus();
  if (distribution->kind == plan::DistributionKind::kSingle) {
    distribution->workers = {Emptiest()};
  } else {
    distribution->workers = ids_;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<StoredArray>> Workers::NewArray(
    plan::ArrayType type, plan::Distribution distribution) const {
  auto array = std::make_shared<StoredArray>();
  const int64_t item_bytes = kernels::ItemBytes(type.dtype);
  for (const plan::ShardPlan& plan : plan::PlanShards(type.shape, distribution)) {
    const Worker& worker = (*this)[plan.worker];
    const int64_t bytes = plan.elements.size() * item_bytes;
    Shard shard{.worker = plan.worker, .elements = plan.elements};
    SHOAL_ASSIGN_OR_RETURN(shard.buffer, worker.device->Allocate(bytes));
    SHOAL_ASSIGN_OR_RETURN(shard.counted, worker.stored->Reserve(bytes));
    shard.way = worker.way;
    array->shards.push_back(std::move(shard));
  }
  array->bytes = type.shape.element_count() * item_bytes;
  array->type = std::move(type);
  array->distribution = std::move(distribution);
  return array;
}

}  // namespace shoal::runtime
