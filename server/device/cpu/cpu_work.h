#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/time.h"
#include "server/device/device.h"
#include "server/device/work.h"
#include "server/threads/team.h"

namespace shoal::device {

/// What the parts of one piece of work share.
struct CpuContext {
  threads::Team* team = nullptr;  ///< Takes chunks beside the calling thread.
  Device* scratch = nullptr;      ///< Where a sort gets its second array from.
};

/// Computes `work` on this thread and the team, in chunks; `cancelled` is looked at before each.
///
/// Errors:
///   UNIMPLEMENTED  the op is not built for the dtype; nothing was written.
///   CANCELLED      `cancelled` was raised; outputs are undefined.
absl::Status RunWork(const Work& work, CancelFlag cancelled, const CpuContext& context);

/// Copies on this thread, and from 8 MiB on the team, too.
void RunCopy(ConstSpan source, Span target, threads::Team& team);

/// How long either takes on one core, roughly: decides whether another thread is worth waking.
Duration EstimatedCost(const Work& work);
Duration EstimatedCopyCost(int64_t bytes);

}  // namespace shoal::device
