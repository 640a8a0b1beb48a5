#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"

namespace shoal {

enum class OptionType {
  kString,
  kInt,       ///< Decimal, 64-bit.
  kBool,      ///< `--name`, `--no-name`, `--name=true|false`.
  kBytes,     ///< As ParseBytes: "64MiB".
  kDuration,  ///< As absl::ParseDuration: "2s", "1m30s", "inf"; not negative.
  kEnum,      ///< One of `choices`.
};

/// One option of a program: the only place where its name, default and text stand.
struct Option {
  std::string name;  ///< Without dashes, words joined by '-': "http-port".
  OptionType type = OptionType::kString;
  /// As it would be typed. Empty: no value until one is given (kBool: false; kString: ""); for a
  /// repeated option, several separated by commas.
  std::string default_text = {};
  std::string help = {};                  ///< One sentence, no full stop needed.
  char short_name = '\0';                 ///< `-o`; '\0': none.
  std::string value_name = {};            ///< In the help: "HOST". Empty: by type.
  std::vector<std::string> choices = {};  ///< Of kEnum.
  /// May be given several times; every value is kept, in order. The environment gives several
  /// separated by commas. Otherwise the last one given counts.
  bool repeated = false;
  std::string group = {};   ///< Heading in the help. Empty: "Options".
  int64_t min = INT64_MIN;  ///< Bounds of kInt and kBytes, both included.
  int64_t max = INT64_MAX;
  bool names_a_file = false;  ///< Shell completion offers files.
};

/// What stands on the command line without a dash.
struct Positional {
  std::string name;  ///< In the help: "FILE".
  std::string help = {};
  int min_count = 1;
  int max_count = 1;  ///< -1: any number. Only the last positional may take several.
  bool names_a_file = false;
};

/// A program, or one of its commands.
///
/// A program's options are also taken after the name of a command. No name may stand twice on one
/// path from the program to a command. `--help` (-h), `--version` and `--show-config` come by
/// themselves and cannot be declared.
struct OptionTable {
  std::string name;          ///< "shoald"; for a command "apply".
  std::string summary = {};  ///< One line.
  std::string details = {};  ///< Paragraphs under the summary; lines as they shall be printed.
  std::vector<Option> options = {};
  std::vector<Positional> positionals = {};
  std::vector<std::string> examples = {};  ///< Whole command lines.
  std::vector<OptionTable> commands = {};  ///< One level; then the program has no positionals.
};

enum class OptionSource { kDefault, kEnvironment, kCommandLine };

/// The value of an environment variable, or nothing. Programs pass getenv; tests pass a map.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& variable)>;

/// SHOAL_HTTP_PORT for "http-port".
std::string EnvironmentVariable(std::string_view option_name);

/// The values in force, after ParseOptions.
///
/// Asking for a name that the table lacks, for the wrong type, or for a number that was not given
/// and has no default (see Has) is a fault of the program and ends it. Safe from any thread.
class ParsedOptions {
 public:
  struct Value {
    OptionType type = OptionType::kString;
    bool repeated = false;
    OptionSource source = OptionSource::kDefault;
    std::vector<std::string> texts;  ///< As given, one unless repeated.
    std::vector<int64_t> numbers;    ///< kInt, kBytes: the value; kBool: 0, 1; kDuration: ns.
  };

  /// The name of the command, "" where the program has none.
  const std::string& command() const { return command_; }
  const std::vector<std::string>& positionals() const { return positionals_; }

  bool help_wanted() const { return help_wanted_; }
  bool version_wanted() const { return version_wanted_; }
  bool show_config_wanted() const { return show_config_wanted_; }

  /// True if it has a value: given, or by default. An option of another command has none.
  bool Has(std::string_view name) const;
  OptionSource Source(std::string_view name) const;

  const std::string& String(std::string_view name) const;  ///< kString and kEnum.
  int64_t Int(std::string_view name) const;
  bool Bool(std::string_view name) const;
  int64_t Bytes(std::string_view name) const;
  Duration Time(std::string_view name) const;  ///< "inf" is Duration::max().

  /// Of repeated options.
  const std::vector<std::string>& Strings(std::string_view name) const;
  const std::vector<int64_t>& Ints(std::string_view name) const;  ///< kInt, kBytes.

  /// Every option that the command takes, by name.
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

 private:
  friend class OptionParser;
  const Value& Find(std::string_view name) const;
  int64_t Number(std::string_view name, OptionType type) const;

  std::string unset_;  // What String gives for an option without a value.
  std::string command_;
  std::vector<std::string> positionals_;
  std::map<std::string, Value, std::less<>> values_;
  bool help_wanted_ = false;
  bool version_wanted_ = false;
  bool show_config_wanted_ = false;
};

/// Reads a command line, without the program's own name (`{argv + 1, argv + argc}`).
///
/// A value comes from the command line, else from SHOAL_<NAME> (an empty variable counts as
/// unset), else from the table. Forms: `--name value`, `--name=value`, `-n value`, `-nvalue`,
/// `-ab` for short bools, `--no-name`; `--` ends the options and `-` is a positional. Options and
/// positionals may be mixed. `--help` and `--version` end the reading: what follows is not judged,
/// and positionals may be missing.
///
/// Errors:
///   INVALID_ARGUMENT  an unknown option or command (with the nearest known name), a value that is
///                     missing, malformed or out of bounds, too few or too many positionals. The
///                     message names the option or the variable.
absl::StatusOr<ParsedOptions> ParseOptions(const OptionTable& table,
                                           std::span<const std::string> arguments,
                                           const EnvironmentLookup& environment);

}  // namespace shoal
