#pragma once

#include <string>

#include "absl/types/span.h"

namespace shoal::bench {

/// `shoal-bench sweep`: payload sizes against throughput and latency, Shoal beside the ceilings.
///
/// `command` is the whole command line, for the head of the results. Returns the exit status: 0,
/// 1 if a byte was wrong or a call failed, 2 for bad flags.
int SweepCommand(absl::Span<const std::string> arguments, const std::string& command);

}  // namespace shoal::bench
