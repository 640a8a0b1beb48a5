#pragma once

#include <string>

#include "absl/types/span.h"

namespace shoal::bench {

/// `shoal-bench collectives`: collectives between embedded workers, as nccl-tests prints them, and
/// the mpi4py experiment beside mpi4py.
///
/// Arguments and exit status as SweepCommand.
int CollectivesCommand(absl::Span<const std::string> arguments, const std::string& command);

}  // namespace shoal::bench
