#include "bench/collectives/mpi_peer.h"

#include <unistd.h>

#include <memory>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "bench/process/child.h"
#include "bench/process/self.h"

namespace shoal::bench {
namespace {

constexpr auto kTimeout = std::chrono::minutes(2);

absl::StatusOr<std::string> Script() {
  std::string path = PathBesideProgram("../share/shoal/bench/mpi_collectives.py");
  if (access(path.c_str(), R_OK) == 0) return path;
  return absl::NotFoundError(absl::StrCat("no ", path));
}

// Whether the interpreter is there and has the module, without starting ranks for it.
absl::Status CheckPython(const std::string& python) {
  const auto child = Child::Start({python, "-c", "import mpi4py, numpy"});
  if (!child.ok()) return child.status();
  if ((*child)->AwaitEnd(kTimeout).ok()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(python, " has no mpi4py or no numpy"));
}

absl::StatusOr<MpiResult> ParseLine(absl::string_view line) {
  const auto json = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
  MpiResult result;
  if (!json.is_object() || !json["op"].is_string() || !json["count"].is_number_integer() ||
      !json["seconds"].is_number() || !json["wrong"].is_number_integer()) {
    return absl::AbortedError(absl::StrCat("not a result of the script: ", line));
  }
  return MpiResult{json["op"].get<std::string>(), json["count"].get<int64_t>(),
                   json["seconds"].get<double>(), json["wrong"].get<int64_t>()};
}

std::vector<std::string> CommandOf(const MpiRun& run, const std::string& script) {
  // Yielding when idle is what Open MPI itself advises where ranks outnumber cores; and in a
  // container everybody is root.
  std::vector<std::string> command = {"env",
                                      "OMPI_ALLOW_RUN_AS_ROOT=1",
                                      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                      "mpirun",
                                      "-n",
                                      absl::StrCat(run.ranks),
                                      "--oversubscribe",
                                      "--bind-to",
                                      "none",
                                      "--mca",
                                      "mpi_yield_when_idle",
                                      "1",
                                      run.python,
                                      script,
                                      "--counts",
                                      absl::StrJoin(run.counts, ","),
                                      "--iterations",
                                      absl::StrCat(run.iterations)};
  if (run.dot) command.emplace_back("--dot");
  return command;
}

}  // namespace

absl::StatusOr<std::vector<MpiResult>> RunMpi(const MpiRun& run) {
  SHOAL_ASSIGN_OR_RETURN(const std::string script, Script());
  SHOAL_RETURN_IF_ERROR(CheckPython(run.python));
  SHOAL_ASSIGN_OR_RETURN(const auto child, Child::Start(CommandOf(run, script)));
  SHOAL_ASSIGN_OR_RETURN(const std::string text, child->AwaitEnd(kTimeout));
  std::vector<MpiResult> results;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    SHOAL_ASSIGN_OR_RETURN(MpiResult result, ParseLine(line));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace shoal::bench
