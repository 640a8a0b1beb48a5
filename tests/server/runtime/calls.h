#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "server/runtime/call_run.h"
#include "tests/support/arrays.h"
#include "tests/support/engine.h"
#include "tests/support/inbox.h"

namespace shoal::runtime {

/// Where an argument's bytes lie before a call.
enum class Place : uint8_t { kRequest, kBlock, kFewBlocks, kReplicated, kSingle, kLease };
inline constexpr Place kAllPlaces[] = {Place::kRequest,    Place::kBlock,  Place::kFewBlocks,
                                       Place::kReplicated, Place::kSingle, Place::kLease};

inline plan::Distribution LayoutOf(Place place, const Workers& workers) {
  using plan::DistributionKind;
  const WorkerId last = workers.ids().back();
  switch (place) {
    case Place::kReplicated:
      return {DistributionKind::kReplicated, workers.ids()};
    case Place::kSingle:
      return {DistributionKind::kSingle, {last}};
    case Place::kFewBlocks:
      if (workers.count() > 1) return {DistributionKind::kBlock, {last, WorkerId{0}}};
      [[fallthrough]];
    case Place::kBlock:
    case Place::kRequest:
    case Place::kLease:
      break;
  }
  return {DistributionKind::kBlock, workers.ids()};
}

/// Builds calls over arrays that lie in any place, and runs them.
class Calls {
 public:
  explicit Calls(Engine* engine) : engine_(*engine) {}

  /// A published array of these bytes.
  ArrayId Store(const plan::ArrayType& type, const std::string& bytes, const plan::StoreAs& store) {
    const ArrayUse use = *engine_.catalogue->Create(type, store);
    for (Shard& shard : use->shards) {
      const int64_t item_bytes = kernels::ItemBytes(type.dtype);
      if (shard.elements.size() == 0) continue;
      std::memcpy(shard.buffer.data(), bytes.data() + shard.elements.begin * item_bytes,
                  static_cast<size_t>(shard.elements.size() * item_bytes));
    }
    SHOAL_CHECK(engine_.catalogue->Publish(use).ok());
    return use->id;
  }

  ArrayId Store(const plan::ArrayType& type, const std::string& bytes, Place place) {
    plan::StoreAs store;
    store.has_distribution = true;
    store.distribution = LayoutOf(place, *engine_.workers);
    return Store(type, bytes, store);
  }

  plan::Argument Argument(const plan::ArrayType& type, const std::string& bytes, Place place) {
    if (place == Place::kRequest) {
      auto held = std::make_shared<std::string>(bytes);
      requests_.push_back(held);
      return {"", plan::InlineBytes{type, support::View(*held)}};
    }
    if (place == Place::kLease) {
      const plan::LeasePlace at = LeaseOf(bytes);
      return {"", plan::LeasedBytes{type, at}};
    }
    return {"", plan::StoredRef{Store(type, bytes, place), ""}};
  }

  /// A lease that begins with these bytes.
  plan::LeasePlace LeaseOf(const std::string& bytes) {
    const auto lease = *engine_.leases->Acquire(bytes.size() + 1);
    if (!bytes.empty()) std::memcpy(lease->region.data(), bytes.data(), bytes.size());
    leases_.push_back(lease);
    return {lease->id, lease->token, 0};
  }

  static plan::Call Make(const char* op, std::vector<plan::Argument> arguments) {
    plan::Call call;
    call.op = kernels::FindOp(op);
    for (plan::Argument& argument : arguments) call.arguments.push_back(std::move(argument));
    for (size_t i = 0; i < call.op->params.size(); ++i) call.params[i] = 3;
    return call;
  }

  /// Runs the call to its end.
  absl::StatusOr<CallResult> Run(plan::Call call) {
    CallSetup setup;
    setup.call = std::move(call);
    return Run(std::move(setup));
  }
  absl::StatusOr<CallResult> Run(CallSetup setup) {
    support::Inbox<absl::StatusOr<CallResult>> ends;
    CallRun::Start(&engine_, std::move(setup),
                   [&](absl::StatusOr<CallResult> result, absl::Span<const TaskId>) {
                     ends.Put(std::move(result));
                   });
    return ends.Take();
  }

  static std::string BytesOf(const Operand& operand) {
    std::string bytes(static_cast<size_t>(operand.bytes()), '\0');
    operand.Gather({0, operand.element_count()}, reinterpret_cast<std::byte*>(bytes.data()));
    return bytes;
  }

  /// Frees every array and lease.
  void Clear() {
    for (const auto& lease : leases_) engine_.leases->Release(lease->id);
    leases_.clear();
    requests_.clear();
    std::vector<plan::StoredRef> refs;
    for (const auto& array : engine_.catalogue->List({}, "", INT32_MAX)) {
      refs.push_back({array->id, ""});
    }
    EXPECT_TRUE(engine_.catalogue->Free(refs, false).ok());
  }

 private:
  Engine& engine_;
  std::vector<std::shared_ptr<std::string>> requests_;
  std::vector<std::shared_ptr<const Lease>> leases_;
};

}  // namespace shoal::runtime
