#include "base/option_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"

namespace shoal {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kIndentMax = 34;  // A longer option pushes its text to the next line.

struct Entry {
  std::string term;
  std::string text;
};

std::string TypeWord(const Option& option) {
  if (!option.value_name.empty()) return option.value_name;
  switch (option.type) {
    case OptionType::kString:
      return option.names_a_file ? "FILE" : "TEXT";
    case OptionType::kInt:
      return "N";
    case OptionType::kBool:
      return "";
    case OptionType::kBytes:
      return "BYTES";
    case OptionType::kDuration:
      return "TIME";
    case OptionType::kEnum:
      return absl::StrJoin(option.choices, "|");
  }
  SHOAL_UNREACHABLE("option type");
}

std::string Term(const Option& option) {
  const std::string letter = option.short_name == '\0'
                                 ? "    "
                                 : absl::StrCat("-", std::string(1, option.short_name), ", ");
  const bool on_by_default = option.type == OptionType::kBool && option.default_text == "true";
  const std::string name = absl::StrCat(on_by_default ? "--[no-]" : "--", option.name);
  const std::string value = TypeWord(option);
  return absl::StrCat(letter, name, value.empty() ? "" : " ", value);
}

std::string Text(const Option& option) {
  std::vector<std::string> notes;
  if (option.repeated) notes.emplace_back("may be repeated");
  if (!option.default_text.empty() && option.type != OptionType::kBool) {
    notes.push_back(absl::StrCat("default ", option.default_text));
  }
  notes.push_back(absl::StrCat("$", EnvironmentVariable(option.name)));
  return absl::StrCat(option.help, " (", absl::StrJoin(notes, "; "), ")");
}

// `text` broken at blanks into lines that leave `indent` columns free.
std::vector<std::string> Wrap(const std::string& text, size_t indent) {
  std::vector<std::string> lines(1);
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  for (const std::string& word : words) {
    std::string& line = lines.back();
    if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) {
      lines.push_back(word);
    } else {
      absl::StrAppend(&line, line.empty() ? "" : " ", word);
    }
  }
  return lines;
}

void AppendEntries(const std::string& heading, const std::vector<Entry>& entries,
                   std::string* out) {
  if (entries.empty()) return;
  absl::StrAppend(out, "\n", heading, ":\n");
  size_t indent = 0;
  for (const Entry& entry : entries) {
    if (entry.term.size() + 4 <= kIndentMax) indent = std::max(indent, entry.term.size() + 4);
  }
  if (indent == 0) indent = kIndentMax;
  for (const Entry& entry : entries) {
    std::string line = absl::StrCat("  ", entry.term);
    if (line.size() + 2 > indent) {
      absl::StrAppend(out, line, "\n");
      line.clear();
    }
    for (const std::string& piece : Wrap(entry.text, indent)) {
      line.resize(indent, ' ');
      absl::StrAppend(out, line, piece, "\n");
      line.clear();
    }
  }
}

void AppendOptions(const OptionTable& table, const std::string& plain_heading, std::string* out) {
  std::vector<std::string> groups;
  for (const Option& option : table.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const std::string& group : groups) {
    std::vector<Entry> entries;
    for (const Option& option : table.options) {
      if (option.group == group) entries.push_back({Term(option), Text(option)});
    }
    AppendEntries(group.empty() ? plain_heading : group, entries, out);
  }
}

std::string Shape(const Positional& positional) {
  std::string shape = positional.name;
  if (positional.max_count != 1) shape += "...";
  return positional.min_count == 0 ? absl::StrCat("[", shape, "]") : shape;
}

const OptionTable* FindCommand(const OptionTable& table, std::string_view name) {
  for (const OptionTable& command : table.commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

const char* SourceWord(OptionSource source) {
  switch (source) {
    case OptionSource::kDefault:
      return "default";
    case OptionSource::kEnvironment:
      return "environment";
    case OptionSource::kCommandLine:
      return "command line";
  }
  SHOAL_UNREACHABLE("option source");
}

}  // namespace

std::string HelpText(const OptionTable& table, std::string_view command) {
  const OptionTable* found = command.empty() ? &table : FindCommand(table, command);
  SHOAL_CHECK(found != nullptr);
  const bool is_command = found != &table;

  std::string out = absl::StrCat("Usage: ", table.name, is_command ? " " : "",
                                 is_command ? found->name : "", " [OPTION...]");
  if (!found->commands.empty()) absl::StrAppend(&out, " COMMAND [ARGUMENT...]");
  for (const Positional& positional : found->positionals) {
    absl::StrAppend(&out, " ", Shape(positional));
  }
  absl::StrAppend(&out, "\n\n", found->summary, "\n");
  if (!found->details.empty()) absl::StrAppend(&out, "\n", found->details, "\n");

  std::vector<Entry> entries;
  for (const OptionTable& each : found->commands) entries.push_back({each.name, each.summary});
  AppendEntries("Commands", entries, &out);
  entries.clear();
  for (const Positional& each : found->positionals) entries.push_back({each.name, each.help});
  AppendEntries("Arguments", entries, &out);

  AppendOptions(*found, "Options", &out);
  if (is_command) AppendOptions(table, "Options of every command", &out);
  entries = {{"-h, --help", "Print this and exit"},
             {"    --version", "Print the version and exit"},
             {"    --show-config", "Print every value in force and where it came from, and exit"}};
  AppendEntries("About the program", entries, &out);
  if (!found->examples.empty()) {
    absl::StrAppend(&out, "\nExamples:\n  ", absl::StrJoin(found->examples, "\n  "), "\n");
  }
  if (!found->commands.empty()) {
    absl::StrAppend(&out, "\n'", table.name, " COMMAND --help' tells more about a command.\n");
  }
  return out;
}

std::string ConfigText(const ParsedOptions& options) {
  size_t width = 0;
  std::vector<Entry> entries;
  for (const auto& [name, value] : options.values()) {
    std::string text = absl::StrJoin(value.texts, ",");
    if (value.type == OptionType::kBool) text = options.Bool(name) ? "true" : "false";
    const std::string variable = value.source == OptionSource::kEnvironment
                                     ? absl::StrCat(" ", EnvironmentVariable(name))
                                     : "";
    entries.push_back({absl::StrCat(name, " = ", text),
                       absl::StrCat("  # ", SourceWord(value.source), variable)});
    width = std::max(width, entries.back().term.size());
  }
  std::string out;
  for (Entry& entry : entries) {
    entry.term.resize(width, ' ');
    absl::StrAppend(&out, entry.term, entry.text, "\n");
  }
  return out;
}

}  // namespace shoal
