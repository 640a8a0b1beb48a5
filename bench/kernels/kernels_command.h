#pragma once

#include <string>

#include "absl/types/span.h"

namespace shoal::bench {

/// `shoal-bench kernels`: programs in this process, beside what the memory can do and Python's
/// array libraries. Returns the exit status.
int KernelsCommand(absl::Span<const std::string> arguments, const std::string& command);

}  // namespace shoal::bench
