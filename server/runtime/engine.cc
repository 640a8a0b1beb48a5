#include "server/runtime/engine.h"

#include <utility>

#include "base/status.h"

namespace shoal::runtime {
namespace {

struct HeldBlock {
  memory::Reservation reservation;
  memory::Block block;
};

}  // namespace

absl::StatusOr<std::shared_ptr<memory::Block>> AllocateFrontEnd(Engine& engine, int64_t bytes) {
  auto held = std::make_shared<HeldBlock>();
  SHOAL_ASSIGN_OR_RETURN(held->reservation, engine.front_budget->Reserve(bytes));
  SHOAL_ASSIGN_OR_RETURN(held->block, engine.arena->Allocate(bytes));
  memory::Block* block = &held->block;
  return std::shared_ptr<memory::Block>(std::move(held), block);
}

}  // namespace shoal::runtime
