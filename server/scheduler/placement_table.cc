#include "server/scheduler/least_load.h"
#include "server/scheduler/placement.h"

namespace shoal::scheduler {

namespace {

constexpr PlacementPolicy kPolicies[] = {
    {"least_load", &MakeLeastLoad},
};

}  // namespace

absl::Span<const PlacementPolicy> PlacementPolicies() { return kPolicies; }

std::unique_ptr<Placement> MakePlacement(absl::string_view name) {
  for (const PlacementPolicy& policy : kPolicies) {
    if (policy.name == name) return policy.make();
  }
  return nullptr;
}

}  // namespace shoal::scheduler
