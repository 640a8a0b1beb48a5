#pragma once

#include <string>

#include "absl/types/span.h"

namespace shoal::bench {

/// `shoal-bench report`: a page with plots out of the JSON that the other subcommands write.
///
/// Returns the exit status: 0, 1 if a file cannot be read or written, 2 for bad flags.
int ReportCommand(absl::Span<const std::string> arguments);

}  // namespace shoal::bench
