#include "client/cli/cli_table.h"

#include <string>

namespace shoal::cli {
namespace {

constexpr char kInputs[] =
    R"(Inputs are .npy files ("-" is standard input), or arrays that the server holds: @NAME or
@#ID. An input may be given a name (x=x.npy). Ops take their inputs in the order given.

Without -o or --store the outputs are printed, long ones cut short.)";

constexpr char kExitCodes[] =
    R"(Exit codes: 0 it went well; 1 it failed; 2 the command line is wrong; 3 an array or file
was not found; 4 no server, or a timeout: try again later.)";

constexpr char kNpy[] =
    R"(.npy files of format 1.0 to 3.0 are read in any byte and axis order; written are 1.0,
little-endian, C order. bfloat16, which NumPy lacks, is the type <V2, as the ml_dtypes package
writes it.)";

std::vector<Option> CommonOptions() {
  return {
      {.name = "address",
       .default_text = "localhost:50051",
       .help = "The server: HOST:PORT, or unix:/PATH",
       .value_name = "ADDRESS"},
      {.name = "timeout",
       .type = OptionType::kDuration,
       .help = "Give up after this long; by default never, but 5s to connect"},
      {.name = "wait",
       .type = OptionType::kBool,
       .help = "Wait for a server that is not there yet, as long as the timeout"},
      {.name = "plane",
       .type = OptionType::kEnum,
       .default_text = "auto",
       .help = "How payload travels",
       .choices = {"auto", "tcp", "unix", "memfd"}},
      {.name = "json",
       .type = OptionType::kBool,
       .help = "Print JSON; errors too, to standard error"},
      {.name = "progress",
       .type = OptionType::kBool,
       .default_text = "true",
       .help = "Show a bar for long transfers, on a terminal"},
  };
}

Option OutputOption(bool repeated) {
  return {.name = "output",
          .help = repeated ? "Write the next output to this .npy file (-: standard output)"
                           : "Write to this .npy file (-: standard output)",
          .short_name = 'o',
          .value_name = "FILE",
          .repeated = repeated,
          .names_a_file = true};
}

Option DistributionOption(const std::string& otherwise) {
  return {.name = "distribution",
          .help =
              "How it lies over the workers: block, replicated or single, perhaps with "
              "workers (single:3, block:0,2); by default " +
              otherwise,
          .short_name = 'd',
          .value_name = "HOW"};
}

Option ReplaceOption() {
  return {.name = "replace",
          .type = OptionType::kBool,
          .help = "Free an array that has the name already"};
}

OptionTable ApplyCommand() {
  return {
      .name = "apply",
      .summary = "Apply an op or a program to arrays.",
      .details = std::string(kInputs) + "\n\n" + kNpy,
      .options = {{.name = "param",
                   .help = "A number, true or false that the op or the program takes",
                   .short_name = 'p',
                   .value_name = "NAME=VALUE",
                   .repeated = true},
                  {.name = "result",
                   .help = "Give back what the program calls by this name",
                   .short_name = 'r',
                   .value_name = "NAME",
                   .repeated = true},
                  OutputOption(true),
                  {.name = "store",
                   .help = "Keep the next output on the server under this name",
                   .value_name = "NAME",
                   .repeated = true},
                  DistributionOption("as the inputs lie"),
                  ReplaceOption(),
                  {.name = "timing",
                   .type = OptionType::kBool,
                   .help = "Tell where the server spent its time"}},
      .positionals = {{.name = "FUNCTION", .help = "An op ('shoal info' lists them), or a program"},
                      {.name = "INPUT",
                       .help = "[NAME=]FILE, [NAME=]@NAME or [NAME=]@#ID",
                       .min_count = 0,
                       .max_count = -1,
                       .names_a_file = true}},
      .examples = {"shoal apply 'sqrt(x*x + y*y)' x=x.npy y=y.npy -o out.npy",
                   "shoal apply 'd = x - mean(x); s = std(x)' x=@x --store d --store s",
                   "shoal apply axpy --param a=2 x=x.npy y=y.npy -o out.npy",
                   "shoal apply sum x=@x", "shoal apply sort x=@#12 --store sorted",
                   "python3 make.py | shoal apply multiply - y.npy -o - | python3 use.py"}};
}

OptionTable EchoCommand() {
  return {.name = "echo",
          .summary = "Send bytes there and back, compare them, and tell how fast it went.",
          .options = {{.name = "route",
                       .type = OptionType::kEnum,
                       .default_text = "worker",
                       .help = "How far they go: the front end, the workers' memory, or through a "
                               "kernel",
                       .choices = {"front", "worker", "device"}},
                      {.name = "bytes",
                       .type = OptionType::kBytes,
                       .default_text = "1MiB",
                       .help = "Random bytes to send, where no file is given",
                       .short_name = 'b',
                       .min = 0},
                      {.name = "count",
                       .type = OptionType::kInt,
                       .default_text = "10",
                       .help = "How often",
                       .short_name = 'n',
                       .min = 1},
                      OutputOption(false)},
          .positionals =
              {{.name = "FILE", .help = "An array to send", .min_count = 0, .names_a_file = true}},
          .examples = {"shoal echo --bytes 64MiB --route device", "shoal echo x.npy -o y.npy"}};
}

std::vector<OptionTable> ArrayCommands() {
  return {
      {.name = "put",
       .summary = "Store an array on the server.",
       .details = kNpy,
       .options = {{.name = "name", .help = "Its name; by default it has only an id"},
                   DistributionOption("block over all workers"),
                   ReplaceOption()},
       .positionals = {{.name = "FILE", .help = "A .npy file, or -", .names_a_file = true}},
       .examples = {"shoal put x.npy --name x --distribution block",
                    "shoal put weights.npy --name w -d replicated --replace"}},
      {.name = "get",
       .summary = "Fetch an array from the server.",
       .details = kNpy,
       .options = {OutputOption(false)},
       .positionals = {{.name = "ARRAY", .help = "NAME or #ID"}},
       .examples = {"shoal get x -o x.npy", "shoal get x -o - | python3 use.py", "shoal get x"}},
      {.name = "ls",
       .summary = "List the arrays that the server holds.",
       .positionals = {{.name = "PREFIX", .help = "Only names that begin so", .min_count = 0}},
       .examples = {"shoal ls", "shoal ls run7/ --json"}},
      {.name = "rm",
       .summary = "Free arrays: all that are named, or none.",
       .options = {{.name = "missing-ok",
                    .type = OptionType::kBool,
                    .help = "An array that does not exist is no error",
                    .short_name = 'f'}},
       .positionals = {{.name = "ARRAY", .help = "NAME or #ID", .max_count = -1}},
       .examples = {"shoal rm x y", "shoal rm '#12'"}},
  };
}

std::vector<OptionTable> ClusterCommands() {
  return {
      {.name = "stats",
       .summary = "Show throughput against payload size, as the server measured it.",
       .positionals = {{.name = "OP", .help = "Only this op", .min_count = 0}},
       .examples = {"shoal stats", "shoal stats echo --json"}},
      {.name = "workers", .summary = "List the workers: state, memory, work done."},
      {.name = "info",
       .summary = "Show the server's version, limits, planes and ops.",
       .positionals = {{.name = "OP", .help = "Tell all about this op", .min_count = 0}},
       .examples = {"shoal info", "shoal info axpy"}},
      {.name = "completion",
       .summary = "Print a script that completes shoal's command lines.",
       .positionals = {{.name = "SHELL", .help = "bash or zsh"}},
       .examples = {"source <(shoal completion bash)"}},
      {.name = "tasks", .summary = "Not built yet. " + InsteadOf("tasks")},
      {.name = "top", .summary = "Not built yet. " + InsteadOf("top")},
      {.name = "dump", .summary = "Not built yet. " + InsteadOf("dump")},
  };
}

}  // namespace

OptionTable ShoalTable() {
  OptionTable table = {.name = "shoal",
                       .summary = "Applies functions to arrays on every device of a Shoal server.",
                       .details = kExitCodes,
                       .options = CommonOptions(),
                       .examples = {"shoal apply axpy --param a=2 x=x.npy y=y.npy -o out.npy",
                                    "shoal put x.npy --name x && shoal apply sum x=@x",
                                    "SHOAL_ADDRESS=gpu1:50051 shoal info"},
                       .commands = {ApplyCommand(), EchoCommand()}};
  for (OptionTable& command : ArrayCommands()) table.commands.push_back(std::move(command));
  for (OptionTable& command : ClusterCommands()) table.commands.push_back(std::move(command));
  return table;
}

std::string InsteadOf(const std::string& command) {
  if (command == "tasks") return "Use 'shoal workers' for what runs, 'shoal stats' for what ran.";
  if (command == "top") return "Use 'watch -n1 shoal stats', or /metrics on the HTTP port.";
  if (command == "dump") return "Use 'shoal info --json', 'workers --json' and 'stats --json'.";
  return "";
}

}  // namespace shoal::cli
