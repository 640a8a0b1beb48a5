#include "server/runtime/engine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "server/memory/shortage.h"
#include "server/wire/status_details.h"

namespace shoal::runtime {
namespace {

// Room comes back with the next result that is read; nobody can say when that is.
constexpr Duration kRetryDelay = std::chrono::milliseconds(100);

struct HeldBlock {
  memory::Reservation reservation;
  memory::Block block;
};

}  // namespace

int64_t FrontSpareBytes(int64_t front_bytes) {
  constexpr int64_t kSpareBytesMin = 2 * kMiB;
  return std::min(front_bytes / 2, std::max(front_bytes / 8, kSpareBytesMin));
}

absl::StatusOr<memory::Reservation> ReserveFrontEnd(Engine& engine, int64_t bytes, FrontUse use) {
  memory::Budget& budget = *engine.front_budget;
  auto reserved = use == FrontUse::kBrief ? budget.Reserve(bytes) : budget.ReserveHeld(bytes);
  if (reserved.ok() || memory::ShortageOf(reserved.status())->IsPermanent()) return reserved;
  return wire::WithRetryAfter(wire::WithQuota(reserved.status(), "front-end memory"), kRetryDelay);
}

absl::StatusOr<std::shared_ptr<memory::Block>> AllocateFrontEnd(Engine& engine, int64_t bytes,
                                                                FrontUse use) {
  auto held = std::make_shared<HeldBlock>();
  SHOAL_ASSIGN_OR_RETURN(held->reservation, ReserveFrontEnd(engine, bytes, use));
  SHOAL_ASSIGN_OR_RETURN(held->block, engine.arena->Allocate(bytes));
  memory::Block* block = &held->block;
  return std::shared_ptr<memory::Block>(std::move(held), block);
}

}  // namespace shoal::runtime
