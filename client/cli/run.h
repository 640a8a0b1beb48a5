#pragma once

#include <span>
#include <string>

#include "base/options.h"
#include "client/cli/console.h"
#include "client/cli/exit_code.h"

namespace shoal::cli {

/// What `shoal` does with a command line (without the program's name).
///
/// Beside SHOAL_<OPTION>, these variables count: NO_COLOR (any value: no colours), TERM ("dumb":
/// no bar), LC_ALL, LC_CTYPE and LANG (UTF-8 or not).
ExitCode RunShoal(std::span<const std::string> arguments, const EnvironmentLookup& environment,
                  const Console& console);

}  // namespace shoal::cli
