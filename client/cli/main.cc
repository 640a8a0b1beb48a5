// The command line client of Shoal.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/run.h"

int main(int argc, char** argv) {
  winsize window = {};
  const bool sized = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  const shoal::cli::Console console = {.out = std::cout,
                                       .err = std::cerr,
                                       .out_is_terminal = isatty(STDOUT_FILENO) != 0,
                                       .err_is_terminal = isatty(STDERR_FILENO) != 0,
                                       .columns = sized ? window.ws_col : 80};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(shoal::cli::RunShoal(
      arguments,
      [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      },
      console));
}
