#pragma once

#include "absl/status/status.h"
#include "server/device/cpu/cpu_work.h"
#include "server/device/work.h"

namespace shoal::device {

// Folds over rows on the CPU, as RunWork does them: in chunks, on the team.
//
// Errors: as Stream::Launch.

absl::Status Run(const FoldWork& work, CancelFlag cancelled, const CpuContext& context);
absl::Status Run(const FoldRowsWork& work, CancelFlag cancelled, const CpuContext& context);
absl::Status Run(const FinishRowsWork& work, CancelFlag cancelled, const CpuContext& context);

}  // namespace shoal::device
