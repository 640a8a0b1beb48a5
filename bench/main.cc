// shoal-bench: measures Shoal, and what it is compared with, side by side.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bench/ceilings/server_process.h"
#include "bench/collectives/collectives_command.h"
#include "bench/commit.h"
#include "bench/kernels/kernels_command.h"
#include "bench/report/report_command.h"
#include "bench/sweep/sweep_command.h"
#include "bench/tasks/tasks_command.h"

namespace shoal::bench {
namespace {

constexpr char kHelp[] =
    "shoal-bench: measures Shoal, and what it is compared with, side by side.\n"
    "\n"
    "  sweep        throughput and latency against payload size, with ceilings\n"
    "  tasks        floods of tiny tasks through a session\n"
    "  collectives  scatter, gather, broadcast, ... between embedded workers, and mpi4py's\n"
    "  kernels      programs on arrays in this process, beside memory, NumPy, numexpr, PyTorch\n"
    "  report       a page with plots out of the JSON that the others write\n"
    "\n"
    "shoal-bench COMMAND --help names the flags of each. Method: docs/benchmarks.md.\n";

// Started by ourselves, never by a user: a wrong argument is our bug, and a plain error will do.
int ServeCeilingCommand(const std::vector<std::string>& arguments) {
  if (arguments.size() != 4 || arguments[0] != "--kind" || arguments[2] != "--plane") return 2;
  return ServeCeiling({arguments[1], arguments[3]});
}

int Main(const std::vector<std::string>& words) {
  const std::string command = words.size() > 1 ? words[1] : "--help";
  const std::vector<std::string> arguments(words.begin() + (words.size() > 1 ? 2 : 1), words.end());
  const std::string line =
      absl::StrCat("shoal-bench ", command, " ", absl::StrJoin(arguments, " "));
  if (command == "sweep") return SweepCommand(arguments, line);
  if (command == "tasks") return TasksCommand(arguments, line);
  if (command == "collectives") return CollectivesCommand(arguments, line);
  if (command == "kernels") return KernelsCommand(arguments, line);
  if (command == "report") return ReportCommand(arguments);
  if (command == "serve-ceiling") return ServeCeilingCommand(arguments);
  if (command == "--version") {
    std::printf("shoal-bench %s\n", Version());
    return 0;
  }
  const bool help = command == "--help" || command == "-h" || command == "help";
  std::fputs(kHelp, help ? stdout : stderr);
  return help ? 0 : 2;
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) {
  return shoal::bench::Main(std::vector<std::string>(argv, argv + argc));
}
