#pragma once

#include <string>
#include <string_view>

#include "base/options.h"

namespace shoal {

/// What `--help` prints, at most 100 columns wide: usage, options by group with their defaults and
/// environment variables, commands, examples. `command` empty: of the program itself.
std::string HelpText(const OptionTable& table, std::string_view command);

/// What `--show-config` prints: a line an option, sorted by name, "name = value  # source".
std::string ConfigText(const ParsedOptions& options);

}  // namespace shoal
