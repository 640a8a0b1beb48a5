#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "bench/flags.h"

namespace shoal::bench {

/// Parses the arguments of a subcommand. A value: the subcommand ends with it, having printed its
/// help (0) or what is wrong (2). What is no flag goes to `rest`; null: nothing else is allowed.
std::optional<int> ParseOrExplain(FlagSet* set, absl::Span<const std::string> arguments,
                                  std::vector<std::string>* rest = nullptr);

/// Prints each error to the error stream. 0 if there is none and nothing was wrong, else 1; 2 for
/// a first error of INVALID_ARGUMENT: the flags did not make sense together.
int ExitStatus(const std::string& command, std::initializer_list<absl::Status> statuses,
               int64_t wrong);

}  // namespace shoal::bench
