#include "bench/collectives/collectives_command.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "bench/collectives/experiment.h"
#include "bench/collectives/table_run.h"
#include "bench/command.h"
#include "bench/flags.h"
#include "bench/output.h"
#include "bench/ranges.h"

namespace shoal::bench {
namespace {

constexpr char kUsage[] =
    "collectives between the embedded workers of one process.\n"
    "\n"
    "First a table as nccl-tests prints it: every operation out of place, in place and, where the\n"
    "ranks can simply look at the root's memory, as views. Then the mpi4py experiment: scatter,\n"
    "gather and broadcast of N float64 a rank, 100 times, with and without a dot product, beside\n"
    "mpi4py on Open MPI. Results are checked; one wrong element fails the run.";

constexpr char kExamples[] =
    "  shoal-bench collectives\n"
    "  shoal-bench collectives --op scatter,gather -b 1MiB -e 64MiB -f 4 --ranks 2,4\n"
    "  shoal-bench collectives --no-table            # the mpi4py experiment alone\n";

struct CollectivesFlags {
  std::vector<std::string> ops;
  int64_t begin = 8;
  int64_t end = 64 * kMiB;
  int64_t factor = 8;
  std::string ranks = "2,4";
  std::vector<std::string> dtype = {"float32"};
  int64_t iterations = 20;
  int64_t warmup = 5;
  bool table = true;
  bool experiment = true;
  bool mpi = true;
  std::string experiment_counts = "10000,50000,200000";
  std::string experiment_ranks = "2,3";
  int64_t experiment_iterations = 100;
  int64_t experiment_repeat = 3;
  std::string python = "/usr/bin/python3";
  OutputOptions output;
};

std::vector<std::string> OperationNames() {
  std::vector<std::string> names;
  for (const auto operation : AllOperations()) names.emplace_back(collective::Name(operation));
  return names;
}

void AddFlags(FlagSet* set, CollectivesFlags* flags) {
  flags->ops = OperationNames();
  set->AddChoices({"op", '\0', "", "Operations; several by commas."}, OperationNames(),
                  &flags->ops);
  set->AddBytes({"begin", 'b', "SIZE", "The smallest size."}, &flags->begin);
  set->AddBytes({"end", 'e', "SIZE", "The largest size."}, &flags->end);
  set->AddInt({"factor", 'f', "N", "From one size to the next."}, &flags->factor);
  set->AddText({"ranks", '\0', "N|A:B:Fx", "Workers that take part."}, &flags->ranks);
  set->AddChoices({"dtype", '\0', "", "Element type."}, {"int32", "int64", "float32", "float64"},
                  &flags->dtype);
  set->AddInt({"iterations", '\0', "N", "Timed calls in each of five rounds."}, &flags->iterations);
  set->AddInt({"warmup", '\0', "N", "Calls before them."}, &flags->warmup);
  set->AddSwitch({"table", '\0', "", "Print the table of nccl-tests."}, &flags->table);
  set->AddSwitch({"experiment", '\0', "", "Run the mpi4py experiment."}, &flags->experiment);
  set->AddSwitch({"mpi", '\0', "", "Run it with mpi4py too."}, &flags->mpi);
  set->AddText({"experiment-counts", '\0', "N,...", "Its elements a rank."},
               &flags->experiment_counts);
  set->AddText({"experiment-ranks", '\0', "N,...", "Its ranks."}, &flags->experiment_ranks);
  set->AddInt({"experiment-iterations", '\0', "N", "Its iterations."},
              &flags->experiment_iterations);
  set->AddInt({"experiment-repeat", '\0', "N", "Runs of it; medians are printed."},
              &flags->experiment_repeat);
  set->AddText({"python", '\0', "PATH", "The interpreter that has mpi4py."}, &flags->python);
  AddOutputFlags(set, &flags->output);
}

std::vector<collective::Operation> OperationsOf(const std::vector<std::string>& names) {
  std::vector<collective::Operation> operations;
  for (const auto operation : AllOperations()) {
    const std::string name(collective::Name(operation));
    if (std::find(names.begin(), names.end(), name) != names.end()) operations.push_back(operation);
  }
  return operations;
}

absl::Status RunTable(const CollectivesFlags& flags, Output* output, int64_t* wrong) {
  CollectiveTableOptions options;
  options.operations = OperationsOf(flags.ops);
  SHOAL_ASSIGN_OR_RETURN(options.ranks, ParseCounts(flags.ranks));
  SHOAL_ASSIGN_OR_RETURN(options.sizes, SizesOf({flags.begin, flags.end, flags.factor}));
  options.iterations = std::max<int64_t>(flags.iterations, 1);
  options.warmup = flags.warmup;
  for (const std::string& dtype : flags.dtype) {
    options.dtype = *kernels::DTypeByName(dtype);
    SHOAL_RETURN_IF_ERROR(RunCollectiveTable(options, output, wrong));
  }
  return absl::OkStatus();
}

absl::Status RunMpiExperiment(const CollectivesFlags& flags, Output* output, int64_t* wrong) {
  ExperimentOptions options;
  SHOAL_ASSIGN_OR_RETURN(options.counts, ParseCounts(flags.experiment_counts));
  SHOAL_ASSIGN_OR_RETURN(options.ranks, ParseCounts(flags.experiment_ranks));
  options.iterations = std::max<int64_t>(flags.experiment_iterations, 1);
  options.repeat = std::max<int64_t>(flags.experiment_repeat, 1);
  options.mpi = flags.mpi;
  options.python = flags.python;
  return RunExperiment(options, output, wrong);
}

}  // namespace

int CollectivesCommand(absl::Span<const std::string> arguments, const std::string& command) {
  CollectivesFlags flags;
  FlagSet set("collectives", kUsage, kExamples);
  AddFlags(&set, &flags);
  if (const auto exit_status = ParseOrExplain(&set, arguments)) return *exit_status;

  Output output(flags.output, CollectiveTable());
  const Json head = MakeHead(command, set.values());
  output.Note(HeadText(head));
  int64_t wrong = 0;
  absl::Status run;
  if (flags.table) run = RunTable(flags, &output, &wrong);
  if (flags.experiment && run.ok()) {
    output.Begin(ExperimentTable());
    run = RunMpiExperiment(flags, &output, &wrong);
  }
  output.Note(absl::StrCat("wrong: ", wrong));
  const absl::Status written = output.Finish(head);
  return ExitStatus("collectives", {run, written}, wrong);
}

}  // namespace shoal::bench
