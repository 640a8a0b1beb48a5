#pragma once

#include <atomic>
#include <cstdint>

#include "server/collective/local/plan.h"
#include "server/threads/team.h"

namespace shoal::collective {

struct ExecuteOptions {
  threads::Team* team = nullptr;               ///< Null: this thread alone.
  int64_t spread_bytes_min = 0;                ///< Below, this thread alone.
  const std::atomic<bool>* stopped = nullptr;  ///< Looked at between chunks.
};

/// Carries out a plan; false when it was stopped before the end.
bool Execute(const Plan& plan, const ExecuteOptions& options);

}  // namespace shoal::collective
