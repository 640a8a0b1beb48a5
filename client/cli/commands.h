#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/options.h"
#include "client/cli/console.h"
#include "client/cli/progress_bar.h"
#include "shoal/client.h"

namespace shoal::cli {

/// What a command is given: its options, a connection, and where to print.
struct CommandContext {
  const ParsedOptions& options;
  const Console& console;
  Client& client;
  bool unicode = false;  ///< The reader's terminal shows UTF-8.
  bool color = false;

  bool json() const { return options.Bool("json"); }

  /// For one transfer; shows on a terminal only, unless it was switched off.
  ProgressBar::Options Bar(const std::string& label) const;
};

// The commands. Each prints its result to `console.out` and returns the first error; then what it
// has printed is unspecified, and files it should have written are as they were before.
absl::Status RunApply(CommandContext& context);
absl::Status RunEcho(CommandContext& context);
absl::Status RunPut(CommandContext& context);
absl::Status RunGet(CommandContext& context);
absl::Status RunList(CommandContext& context);
absl::Status RunRemove(CommandContext& context);
absl::Status RunStats(CommandContext& context);
absl::Status RunWorkers(CommandContext& context);
absl::Status RunInfo(CommandContext& context);

}  // namespace shoal::cli
