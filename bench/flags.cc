#include "bench/flags.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/units.h"

namespace shoal::bench {
namespace {

constexpr size_t kHelpColumn = 28;

std::string Spelling(const Flag& flag) {
  std::string text = flag.letter != '\0' ? absl::StrCat("-", std::string(1, flag.letter), ", ")
                                         : std::string("    ");
  absl::StrAppend(&text, "--", flag.name);
  if (!flag.value_name.empty()) absl::StrAppend(&text, " ", flag.value_name);
  return text;
}

}  // namespace

FlagSet::FlagSet(std::string command, std::string usage, std::string examples)
    : command_(std::move(command)), usage_(std::move(usage)), examples_(std::move(examples)) {}

void FlagSet::Add(const Flag& flag, std::string default_text, Setter set) {
  values_[flag.name] = default_text;
  defaults_[flag.name] = std::move(default_text);
  entries_.push_back(Entry{flag, false, std::move(set)});
}

void FlagSet::AddText(const Flag& flag, std::string* value) {
  Add(flag, *value, [value](const std::string& text) {
    *value = text;
    return absl::OkStatus();
  });
}

void FlagSet::AddBytes(const Flag& flag, int64_t* value) {
  Add(flag, absl::StrCat(*value), [value](const std::string& text) -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(*value, ParseBytes(text));
    return absl::OkStatus();
  });
}

void FlagSet::AddInt(const Flag& flag, int64_t* value) {
  Add(flag, absl::StrCat(*value), [value](const std::string& text) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(text, &number) || number < 0) {
      return absl::InvalidArgumentError(absl::StrCat("not a count: '", text, "'"));
    }
    *value = number;
    return absl::OkStatus();
  });
}

void FlagSet::AddSwitch(const Flag& flag, bool* value) {
  Add(flag, *value ? "true" : "false", [value](const std::string& text) {
    if (text != "true" && text != "false") {
      return absl::InvalidArgumentError(absl::StrCat("neither true nor false: '", text, "'"));
    }
    *value = text == "true";
    return absl::OkStatus();
  });
  entries_.back().is_switch = true;
}

void FlagSet::AddChoices(const Flag& flag, std::vector<std::string> choices,
                         std::vector<std::string>* value) {
  Flag shown = flag;
  shown.value_name = absl::StrJoin(choices, "|");
  Add(shown, absl::StrJoin(*value, ","),
      [value, choices = std::move(choices)](const std::string& text) -> absl::Status {
        std::vector<std::string> parts = absl::StrSplit(text, ',');
        for (const std::string& part : parts) {
          if (std::find(choices.begin(), choices.end(), part) != choices.end()) continue;
          return absl::InvalidArgumentError(
              absl::StrCat("'", part, "' is none of ", absl::StrJoin(choices, ", ")));
        }
        *value = std::move(parts);
        return absl::OkStatus();
      });
}

FlagSet::Entry* FlagSet::Find(const std::string& name) {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.flag.name == name; });
  return it == entries_.end() ? nullptr : &*it;
}

FlagSet::Entry* FlagSet::FindLetter(char letter) {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.flag.letter == letter; });
  return it == entries_.end() ? nullptr : &*it;
}

absl::Status FlagSet::Set(Entry& entry, const std::string& text) {
  const absl::Status status = entry.set(text);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--", entry.flag.name, ": ", status.message()));
  }
  values_[entry.flag.name] = text;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FlagSet::Parse(absl::Span<const std::string> arguments) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") return absl::CancelledError("help");
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<int64_t>(i) + 1, arguments.end());
      break;
    }
    // "-" alone is a file name: standard input or output.
    if (argument.size() < 2 || argument[0] != '-') {
      rest.push_back(argument);
      continue;
    }
    const bool is_long = absl::StartsWith(argument, "--");
    const size_t equals = is_long ? argument.find('=') : std::string::npos;
    std::string name = is_long ? argument.substr(2, equals - 2) : argument.substr(1, 1);
    bool has_value = is_long ? equals != std::string::npos : argument.size() > 2;
    std::string value = !has_value ? "" : argument.substr(is_long ? equals + 1 : 2);

    Entry* entry = is_long ? Find(name) : FindLetter(name[0]);
    if (entry == nullptr && absl::StartsWith(name, "no-") && !has_value) {
      entry = Find(name.substr(3));
      if (entry != nullptr && !entry->is_switch) entry = nullptr;
      value = "false";
      has_value = true;
    }
    if (entry == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag '", argument, "'; see shoal-bench ", command_, " --help"));
    }
    if (!has_value && entry->is_switch) value = "true";
    if (!has_value && !entry->is_switch) {
      if (i + 1 == arguments.size()) {
        return absl::InvalidArgumentError(absl::StrCat("--", entry->flag.name, " needs a value"));
      }
      value = arguments[++i];
    }
    SHOAL_RETURN_IF_ERROR(Set(*entry, value));
  }
  return rest;
}

std::string FlagSet::Help() const {
  std::string text = absl::StrCat("shoal-bench ", command_, ": ", usage_, "\n\nFlags:\n");
  for (const Entry& entry : entries_) {
    std::string left = absl::StrCat("  ", Spelling(entry.flag));
    if (left.size() < kHelpColumn) {
      left.resize(kHelpColumn, ' ');
    } else {
      absl::StrAppend(&left, "\n", std::string(kHelpColumn, ' '));
    }
    absl::StrAppend(&text, left, entry.flag.help);
    const std::string& value = defaults_.at(entry.flag.name);
    if (!value.empty() && !entry.is_switch) absl::StrAppend(&text, " (", value, ")");
    if (entry.is_switch && value == "true")
      absl::StrAppend(&text, " (on; --no-", entry.flag.name, ")");
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppend(&text, "\nExamples:\n", examples_);
  return text;
}

}  // namespace shoal::bench
