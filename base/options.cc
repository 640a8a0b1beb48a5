#include "base/options.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/units.h"

namespace shoal {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

absl::StatusOr<int64_t> ParseBool(const std::string& text) {
  for (const char* word : {"1", "true", "yes", "on"}) {
    if (absl::EqualsIgnoreCase(text, word)) return 1;
  }
  for (const char* word : {"0", "false", "no", "off"}) {
    if (absl::EqualsIgnoreCase(text, word)) return 0;
  }
  return absl::InvalidArgumentError(absl::StrCat("not true or false: '", text, "'"));
}

absl::StatusOr<int64_t> ParseTime(const std::string& text) {
  absl::Duration value;
  if (!absl::ParseDuration(text, &value) || value < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a duration: '", text, "' (examples: 250ms, 2s, 1m30s, inf)"));
  }
  return absl::ToInt64Nanoseconds(value);  // Saturates: "inf" is INT64_MAX.
}

absl::StatusOr<int64_t> ParseChoice(const Option& option, const std::string& text) {
  const auto found = std::find(option.choices.begin(), option.choices.end(), text);
  if (found != option.choices.end()) return 0;
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not one of ",
                                                 absl::StrJoin(option.choices, ", "),
                                                 DidYouMean(text, option.choices)));
}

// In the unit in which one would say it.
std::string Shown(const Option& option, int64_t number) {
  return option.type == OptionType::kBytes ? FormatBytes(number) : absl::StrCat(number);
}

absl::StatusOr<int64_t> ParseNumber(const Option& option, const std::string& text) {
  int64_t value = 0;
  if (option.type == OptionType::kBytes) {
    SHOAL_ASSIGN_OR_RETURN(value, ParseBytes(text));
  } else if (!absl::SimpleAtoi(text, &value)) {
    return absl::InvalidArgumentError(absl::StrCat("not a whole number: '", text, "'"));
  }
  if (value < option.min) {
    return absl::InvalidArgumentError(absl::StrCat(text, " is below ", Shown(option, option.min)));
  }
  if (value > option.max) {
    return absl::InvalidArgumentError(absl::StrCat(text, " is above ", Shown(option, option.max)));
  }
  return value;
}

// The number behind a text, 0 where a text is all there is.
absl::StatusOr<int64_t> Convert(const Option& option, const std::string& text) {
  switch (option.type) {
    case OptionType::kString:
      return 0;
    case OptionType::kInt:
      return ParseNumber(option, text);
    case OptionType::kBool:
      return ParseBool(text);
    case OptionType::kBytes:
      return ParseNumber(option, text);
    case OptionType::kDuration:
      return ParseTime(text);
    case OptionType::kEnum:
      return ParseChoice(option, text);
  }
  SHOAL_UNREACHABLE("option type");
}

Option Builtin(std::string name, char short_name) {
  return {.name = std::move(name), .type = OptionType::kBool, .short_name = short_name};
}

}  // namespace

std::string EnvironmentVariable(std::string_view option_name) {
  return absl::StrCat("SHOAL_",
                      absl::AsciiStrToUpper(absl::StrReplaceAll(View(option_name), {{"-", "_"}})));
}

bool ParsedOptions::Has(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && !found->second.texts.empty();
}

const ParsedOptions::Value& ParsedOptions::Find(std::string_view name) const {
  const auto found = values_.find(name);
  SHOAL_CHECK(found != values_.end());
  return found->second;
}

int64_t ParsedOptions::Number(std::string_view name, OptionType type) const {
  const Value& value = Find(name);
  SHOAL_CHECK(value.type == type && !value.repeated && !value.numbers.empty());
  return value.numbers[0];
}

OptionSource ParsedOptions::Source(std::string_view name) const { return Find(name).source; }

const std::string& ParsedOptions::String(std::string_view name) const {
  const Value& value = Find(name);
  SHOAL_CHECK(value.type == OptionType::kString || value.type == OptionType::kEnum);
  SHOAL_CHECK(!value.repeated);
  return value.texts.empty() ? unset_ : value.texts[0];
}

int64_t ParsedOptions::Int(std::string_view name) const { return Number(name, OptionType::kInt); }

bool ParsedOptions::Bool(std::string_view name) const {
  const Value& value = Find(name);
  SHOAL_CHECK(value.type == OptionType::kBool);
  return !value.numbers.empty() && value.numbers[0] != 0;
}

int64_t ParsedOptions::Bytes(std::string_view name) const {
  return Number(name, OptionType::kBytes);
}

Duration ParsedOptions::Time(std::string_view name) const {
  return Duration(Number(name, OptionType::kDuration));
}

const std::vector<std::string>& ParsedOptions::Strings(std::string_view name) const {
  const Value& value = Find(name);
  SHOAL_CHECK(value.repeated);
  return value.texts;
}

const std::vector<int64_t>& ParsedOptions::Ints(std::string_view name) const {
  const Value& value = Find(name);
  SHOAL_CHECK(value.repeated &&
              (value.type == OptionType::kInt || value.type == OptionType::kBytes));
  return value.numbers;
}

// One reading of one command line.
class OptionParser {
 public:
  explicit OptionParser(const OptionTable& table) : table_(table) {
    builtins_ = {Builtin("help", 'h'), Builtin("version", '\0'), Builtin("show-config", '\0')};
    for (const Option& option : builtins_) known_.push_back(&option);
    AddOptions(table);
    SHOAL_CHECK(table.commands.empty() || table.positionals.empty());
  }

  absl::StatusOr<ParsedOptions> Parse(std::span<const std::string> arguments,
                                      const EnvironmentLookup& environment) {
    for (next_ = arguments.begin(), end_ = arguments.end(); next_ != end_ && !Finished();) {
      SHOAL_RETURN_IF_ERROR(ReadOne(*next_++));
    }
    if (!Finished()) SHOAL_RETURN_IF_ERROR(CheckPositionals());
    // A bad variable must not keep a user from the help.
    const EnvironmentLookup nothing = [](const std::string&) { return std::nullopt; };
    for (const Option* option : known_) {
      if (IsBuiltin(*option)) continue;
      SHOAL_RETURN_IF_ERROR(FillFromElsewhere(*option, Finished() ? nothing : environment));
    }
    return std::move(parsed_);
  }

 private:
  bool Finished() const { return parsed_.help_wanted_ || parsed_.version_wanted_; }

  bool IsBuiltin(const Option& option) const {
    return std::any_of(builtins_.begin(), builtins_.end(),
                       [&](const Option& builtin) { return &builtin == &option; });
  }

  void AddOptions(const OptionTable& table) {
    for (const Option& option : table.options) {
      SHOAL_CHECK(FindLong(option.name) == nullptr);
      SHOAL_CHECK(option.short_name == '\0' || FindShort(option.short_name) == nullptr);
      known_.push_back(&option);
    }
  }

  const Option* FindLong(std::string_view name) const {
    for (const Option* option : known_) {
      if (option->name == name) return option;
    }
    return nullptr;
  }

  const Option* FindShort(char letter) const {
    for (const Option* option : known_) {
      if (option->short_name == letter) return option;
    }
    return nullptr;
  }

  absl::Status ReadOne(const std::string& argument) {
    if (only_positionals_ || argument.size() < 2 || argument[0] != '-') {
      return ReadPositional(argument);
    }
    if (argument == "--") {
      only_positionals_ = true;
      return absl::OkStatus();
    }
    return argument[1] == '-' ? ReadLong(argument) : ReadShort(argument);
  }

  absl::Status ReadPositional(const std::string& argument) {
    if (table_.commands.empty() || command_ != nullptr) {
      parsed_.positionals_.push_back(argument);
      return absl::OkStatus();
    }
    std::vector<std::string> names;
    for (const OptionTable& command : table_.commands) {
      names.push_back(command.name);
      if (command.name != argument) continue;
      command_ = &command;
      parsed_.command_ = command.name;
      AddOptions(command);
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("no such command: '", argument, "'", DidYouMean(argument, names)));
  }

  absl::Status ReadLong(const std::string& argument) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = argument.substr(equals + 1);

    const Option* option = FindLong(name);
    if (option == nullptr && name.starts_with("no-") && !value.has_value()) {
      const Option* negated = FindLong(std::string_view(name).substr(3));
      if (negated != nullptr && negated->type == OptionType::kBool) {
        return Take(*negated, absl::StrCat("--", name), "false");
      }
    }
    if (option == nullptr) return UnknownOption("--" + name);
    if (option->type == OptionType::kBool && !value.has_value()) value = "true";
    return Take(*option, absl::StrCat("--", option->name), std::move(value));
  }

  // "-v", "-vq", "-m8", "-vm8", and "-m" with its value in the next argument.
  absl::Status ReadShort(const std::string& argument) {
    for (size_t i = 1; i < argument.size(); ++i) {
      const std::string shown = absl::StrCat("-", argument.substr(i, 1));
      const Option* option = FindShort(argument[i]);
      if (option == nullptr) return UnknownOption(shown);
      if (option->type != OptionType::kBool) {
        std::optional<std::string> value;
        if (i + 1 < argument.size()) value = argument.substr(i + 1);
        return Take(*option, shown, std::move(value));
      }
      if (absl::Status taken = Take(*option, shown, "true"); !taken.ok()) return taken;
    }
    return absl::OkStatus();
  }

  absl::Status UnknownOption(const std::string& shown) const {
    std::vector<std::string> names;
    for (const Option* option : known_) names.push_back(absl::StrCat("--", option->name));
    return absl::InvalidArgumentError(
        absl::StrCat("unknown option ", shown, DidYouMean(shown, names)));
  }

  absl::Status Take(const Option& option, const std::string& shown,
                    std::optional<std::string> value) {
    if (!value.has_value()) {
      if (next_ == end_) return absl::InvalidArgumentError(absl::StrCat(shown, " needs a value"));
      value = *next_++;
    }
    if (IsBuiltin(option)) return TakeBuiltin(option, *value);
    ParsedOptions::Value& slot = parsed_.values_[option.name];
    if (!option.repeated) slot = {};
    slot.source = OptionSource::kCommandLine;
    return Append(option, shown, *value);
  }

  absl::Status TakeBuiltin(const Option& option, const std::string& value) {
    SHOAL_ASSIGN_OR_RETURN(const int64_t on, ParseBool(value));
    if (option.name == "help") parsed_.help_wanted_ = on != 0;
    if (option.name == "version") parsed_.version_wanted_ = on != 0;
    if (option.name == "show-config") parsed_.show_config_wanted_ = on != 0;
    return absl::OkStatus();
  }

  absl::Status Append(const Option& option, const std::string& shown, const std::string& text) {
    absl::StatusOr<int64_t> number = Convert(option, text);
    if (!number.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(shown, ": ", number.status().message()));
    }
    ParsedOptions::Value& slot = parsed_.values_[option.name];
    slot.texts.push_back(text);
    slot.numbers.push_back(*number);
    return absl::OkStatus();
  }

  absl::Status FillFromElsewhere(const Option& option, const EnvironmentLookup& environment) {
    ParsedOptions::Value& slot = parsed_.values_[option.name];
    slot.type = option.type;
    slot.repeated = option.repeated;
    if (slot.source == OptionSource::kCommandLine) return absl::OkStatus();

    std::string shown = EnvironmentVariable(option.name);
    std::string text = environment(shown).value_or("");
    if (text.empty()) {
      text = option.default_text;
      shown = absl::StrCat("--", option.name);
    } else {
      slot.source = OptionSource::kEnvironment;
    }
    if (text.empty()) return absl::OkStatus();
    if (!option.repeated) return Append(option, shown, text);
    const std::vector<std::string> parts = absl::StrSplit(text, ',');
    for (const std::string& part : parts) SHOAL_RETURN_IF_ERROR(Append(option, shown, part));
    return absl::OkStatus();
  }

  absl::Status CheckPositionals() const {
    if (!table_.commands.empty() && command_ == nullptr) {
      if (parsed_.show_config_wanted_) return absl::OkStatus();
      return absl::InvalidArgumentError("a command is missing");
    }
    const OptionTable& table = command_ != nullptr ? *command_ : table_;
    // The program's own name stands before every error anyway.
    const std::string where = command_ != nullptr ? absl::StrCat(table.name, ": ") : "";
    const int given = static_cast<int>(parsed_.positionals_.size());
    int needed = 0;
    int allowed = 0;
    for (const Positional& positional : table.positionals) {
      needed += positional.min_count;
      if (given < needed && !parsed_.show_config_wanted_) {
        return absl::InvalidArgumentError(absl::StrCat(where, positional.name, " is missing"));
      }
      allowed = positional.max_count < 0 ? INT32_MAX : allowed + positional.max_count;
    }
    if (given <= allowed) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        where, "unexpected argument '", parsed_.positionals_[static_cast<size_t>(allowed)], "'"));
  }

  const OptionTable& table_;
  const OptionTable* command_ = nullptr;
  std::vector<Option> builtins_;
  std::vector<const Option*> known_;
  std::span<const std::string>::iterator next_;
  std::span<const std::string>::iterator end_;
  bool only_positionals_ = false;
  ParsedOptions parsed_;
};

absl::StatusOr<ParsedOptions> ParseOptions(const OptionTable& table,
                                           std::span<const std::string> arguments,
                                           const EnvironmentLookup& environment) {
  return OptionParser(table).Parse(arguments, environment);
}

}  // namespace shoal
