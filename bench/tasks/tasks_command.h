#pragma once

#include <string>

#include "absl/types/span.h"

namespace shoal::bench {

/// `shoal-bench tasks`: floods of empty tasks through a session, beside bare gRPC.
///
/// Arguments and exit status as SweepCommand.
int TasksCommand(absl::Span<const std::string> arguments, const std::string& command);

}  // namespace shoal::bench
