#pragma once

#include <string>

#include "base/options.h"

namespace shoal {

enum class Shell { kBash, kZsh };

/// A script that completes commands, options, choices and files in that shell; to be sourced.
std::string CompletionScript(const OptionTable& table, Shell shell);

}  // namespace shoal
