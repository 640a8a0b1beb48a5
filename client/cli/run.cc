#include "client/cli/run.h"

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/completion.h"
#include "base/option_text.h"
#include "base/status.h"
#include "client/cli/cli_table.h"
#include "client/cli/commands.h"
#include "client/cli/json_view.h"
#include "client/cli/text.h"
#include "shoal/status.h"

namespace shoal::cli {
namespace {

struct CommandEntry {
  const char* name;
  absl::Status (*run)(CommandContext&);
};
constexpr std::array<CommandEntry, 9> kCommands = {{{"apply", RunApply},
                                                    {"echo", RunEcho},
                                                    {"put", RunPut},
                                                    {"get", RunGet},
                                                    {"ls", RunList},
                                                    {"rm", RunRemove},
                                                    {"stats", RunStats},
                                                    {"workers", RunWorkers},
                                                    {"info", RunInfo}}};

bool ShowsUnicode(const EnvironmentLookup& environment) {
  // The first that is set counts, as in setlocale.
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = environment(variable).value_or("");
    if (value.empty()) continue;
    const std::string upper = absl::AsciiStrToUpper(value);
    return absl::StrContains(upper, "UTF-8") || absl::StrContains(upper, "UTF8");
  }
  return false;
}

Plane PlaneOf(const std::string& name) {
  if (name == "tcp") return Plane::kTcp;
  if (name == "unix") return Plane::kUnix;
  if (name == "memfd") return Plane::kMemfd;
  SHOAL_CHECK(name == "auto");
  return Plane::kAuto;
}

absl::StatusOr<std::unique_ptr<Client>> Connect(const ParsedOptions& options) {
  ClientOptions client;
  client.address = options.String("address");
  client.plane = PlaneOf(options.String("plane"));
  client.wait_for_server = options.Bool("wait");
  if (options.Has("timeout")) {
    client.timeout = options.Time("timeout");
    client.connect_timeout = client.wait_for_server
                                 ? *client.timeout
                                 : std::min(client.connect_timeout, *client.timeout);
  }
  return Client::Connect(std::move(client));
}

absl::Status PrintCompletion(const ParsedOptions& options, const Console& console) {
  const std::string& shell = options.positionals()[0];
  if (shell != "bash" && shell != "zsh") {
    return UsageError(absl::StrCat("no completion for '", shell, "' (bash or zsh)"));
  }
  console.out << CompletionScript(ShoalTable(), shell == "bash" ? Shell::kBash : Shell::kZsh);
  return absl::OkStatus();
}

absl::Status RunCommand(const ParsedOptions& options, const EnvironmentLookup& environment,
                        const Console& console) {
  if (options.command() == "completion") return PrintCompletion(options, console);
  const std::string instead = InsteadOf(options.command());
  if (!instead.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("'", options.command(), "' is not built yet. ", instead));
  }
  const auto* entry =
      std::find_if(kCommands.begin(), kCommands.end(),
                   [&](const CommandEntry& command) { return options.command() == command.name; });
  SHOAL_CHECK(entry != kCommands.end());

  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, Connect(options));
  CommandContext context = {.options = options,
                            .console = console,
                            .client = *client,
                            .unicode = ShowsUnicode(environment),
                            .color = !environment("NO_COLOR").has_value()};
  return entry->run(context);
}

void PrintError(const absl::Status& status, bool json, const Console& console) {
  if (json) {
    console.err << ToText(ToJson(status));
  } else if (ExitCodeOf(status) == ExitCode::kUsage) {
    console.err << "shoal: " << status.message() << "\nTry 'shoal --help'.\n";
  } else {
    console.err << "shoal: " << PrintableLines(DescribeError(status)) << "\n";
  }
}

// What needs no server and no command: true if that was all.
bool AnswerAboutItself(const ParsedOptions& options, const Console& console) {
  if (options.help_wanted()) {
    console.out << HelpText(ShoalTable(), options.command());
  } else if (options.version_wanted()) {
    console.out << "shoal " SHOAL_VERSION "\n";
  } else if (options.show_config_wanted()) {
    console.out << ConfigText(options);
  } else {
    return false;
  }
  return true;
}

}  // namespace

ProgressBar::Options CommandContext::Bar(const std::string& label) const {
  const bool enabled = console.err_is_terminal && options.Bool("progress");
  return {.enabled = enabled,
          .style = {.columns = console.columns, .unicode = unicode, .color = color},
          .label = label};
}

ExitCode RunShoal(std::span<const std::string> arguments, const EnvironmentLookup& environment,
                  const Console& console) {
  const absl::StatusOr<ParsedOptions> options = ParseOptions(ShoalTable(), arguments, environment);
  if (!options.ok()) {
    PrintError(UsageError(std::string(options.status().message())), false, console);
    return ExitCode::kUsage;
  }
  if (AnswerAboutItself(*options, console)) return ExitCode::kOk;
  const Console plain = {
      .out = console.out,
      .err = console.err,
      .out_is_terminal = console.out_is_terminal,
      .err_is_terminal = console.err_is_terminal && environment("TERM").value_or("dumb") != "dumb",
      .columns = console.columns};
  const absl::Status status = RunCommand(*options, environment, plain);
  console.out.flush();
  if (status.ok() && !console.out.fail()) return ExitCode::kOk;
  PrintError(status.ok() ? absl::UnknownError("standard output: write failed") : status,
             options->Bool("json"), console);
  return std::max(ExitCodeOf(status), ExitCode::kFailure);
}

}  // namespace shoal::cli
