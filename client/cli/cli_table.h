#pragma once

#include "base/options.h"

namespace shoal::cli {

/// Commands and options of `shoal`.
OptionTable ShoalTable();

/// What to use instead of a command that is not built yet; empty for all others.
std::string InsteadOf(const std::string& command);

}  // namespace shoal::cli
