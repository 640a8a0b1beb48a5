#include "base/completion.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"

namespace shoal {
namespace {

std::vector<const Option*> OptionsOf(const OptionTable& table, const OptionTable* command) {
  std::vector<const Option*> options;
  for (const Option& option : table.options) options.push_back(&option);
  if (command == nullptr) return options;
  for (const Option& option : command->options) options.push_back(&option);
  return options;
}

std::string OptionWords(const OptionTable& table, const OptionTable* command) {
  std::vector<std::string> words = {"--help", "--version", "--show-config"};
  for (const Option* option : OptionsOf(table, command)) {
    words.push_back(absl::StrCat("--", option->name));
    if (option->type == OptionType::kBool) words.push_back(absl::StrCat("--no-", option->name));
  }
  return absl::StrJoin(words, " ");
}

// The case pattern of an option that takes a value: "--output|-o".
std::string Pattern(const Option& option) {
  if (option.short_name == '\0') return absl::StrCat("--", option.name);
  return absl::StrCat("--", option.name, "|-", std::string(1, option.short_name));
}

bool TakesFiles(const OptionTable& table) {
  for (const Positional& positional : table.positionals) {
    if (positional.names_a_file) return true;
  }
  return false;
}

// Case arms that complete the value after an option.
std::string ValueArms(const OptionTable& table, const OptionTable* command) {
  std::string arms;
  for (const Option* option : OptionsOf(table, command)) {
    if (option->type == OptionType::kBool) continue;
    const std::string offer =
        option->names_a_file ? "COMPREPLY=($(compgen -f -- \"$current\"))"
        : option->type == OptionType::kEnum
            ? absl::StrCat("COMPREPLY=($(compgen -W '", absl::StrJoin(option->choices, " "),
                           "' -- \"$current\"))")
            : "COMPREPLY=()";
    absl::StrAppend(&arms, "        ", Pattern(*option), ") ", offer, "; return ;;\n");
  }
  return arms;
}

std::string CommandArm(const OptionTable& table, const OptionTable* command) {
  const OptionTable& own = command != nullptr ? *command : table;
  std::vector<std::string> names;
  for (const OptionTable& each : own.commands) names.push_back(each.name);
  const std::string words = absl::StrCat(absl::StrJoin(names, " "), names.empty() ? "" : " ",
                                         OptionWords(table, command));
  return absl::StrCat("    ", command != nullptr ? command->name : "''", ")\n",
                      "      case \"$previous\" in\n", ValueArms(table, command), "      esac\n",
                      "      words='", words, "'\n", "      files=", TakesFiles(own) ? "1" : "",
                      " ;;\n");
}

// Both shells run this function; zsh does so through its bashcompinit.
constexpr char kScript[] = R"(_NAME_complete() {
  local current previous word command='' words='' files='' i
  current="${COMP_WORDS[COMP_CWORD]}"
  previous="${COMP_WORDS[COMP_CWORD-1]}"
  # bash cuts "--name=value" and "x=file" into three words.
  if [[ "$current" == = ]]; then
    current=''
  elif [[ "$previous" == = ]]; then
    previous="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    case "$word" in
      COMMANDS) command="$word"; break ;;
    esac
  done
  case "$command" in
ARMS  esac
  if [[ -n "$files" && "$current" != -* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -o filenames -F _NAME_complete PROGRAM
)";

}  // namespace

std::string CompletionScript(const OptionTable& table, Shell shell) {
  std::vector<std::string> names;
  std::string arms = CommandArm(table, nullptr);
  for (const OptionTable& command : table.commands) {
    names.push_back(command.name);
    arms += CommandArm(table, &command);
  }
  if (names.empty()) names.emplace_back("''");
  const std::string function_name = absl::StrReplaceAll(table.name, {{"-", "_"}});
  std::string script = absl::StrReplaceAll(kScript, {{"NAME", function_name},
                                                     {"COMMANDS", absl::StrJoin(names, "|")},
                                                     {"ARMS", arms},
                                                     {"PROGRAM", table.name}});
  switch (shell) {
    case Shell::kBash:
      return absl::StrCat("# bash completion for ", table.name, "; source this file.\n", script);
    case Shell::kZsh:
      return absl::StrCat("#compdef ", table.name, "\n# zsh completion for ", table.name,
                          "; source this file after compinit.\n",
                          "autoload -U +X bashcompinit && bashcompinit\n", script);
  }
  SHOAL_UNREACHABLE("shell");
}

}  // namespace shoal
