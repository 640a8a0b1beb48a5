#pragma once

#include <iosfwd>

namespace shoal::cli {

/// Where a command prints, and what the reader of it can show. Made by main; tests pass string
/// streams.
struct Console {
  std::ostream& out;  ///< Results.
  std::ostream& err;  ///< Errors and progress.
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  int columns = 80;
};

}  // namespace shoal::cli
