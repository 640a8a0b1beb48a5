#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace shoal::bench {

/// How a flag is written and explained.
struct Flag {
  std::string name;        ///< As after "--".
  char letter = '\0';      ///< As after "-"; 0: no short form.
  std::string value_name;  ///< In the help: "SIZE". Empty for switches.
  std::string help;        ///< One sentence.
};

/// The flags of one subcommand, bound to variables of the caller.
///
/// Apart from the option tables of base/options.h, because a measurement wants other things: lists
/// of choices ("--plane tcp,unix"), defaults that are the initial values of the structs that tests
/// and commands share, each value as it was typed for the head of the results, and no environment
/// that could change a run unseen.
///
/// Accepts "--name value", "--name=value", "-b value", "-b8"; for switches "--name" and
/// "--no-name". "--" ends the flags. What a variable holds when it is bound is the default that
/// the help names.
///
/// Lifetime: the variables outlive the set.
class FlagSet {
 public:
  /// `command` is the subcommand's name, `usage` the text between the title and the flags.
  FlagSet(std::string command, std::string usage, std::string examples);

  void AddText(const Flag& flag, std::string* value);
  void AddBytes(const Flag& flag, int64_t* value);
  void AddInt(const Flag& flag, int64_t* value);
  void AddSwitch(const Flag& flag, bool* value);
  /// One or more of `choices`, separated by commas.
  void AddChoices(const Flag& flag, std::vector<std::string> choices,
                  std::vector<std::string>* value);

  /// Sets the bound variables; returns what was not a flag, in order.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  unknown flag, missing or bad value; the message names the flag.
  ///   CANCELLED         "--help" or "-h" was among them: print `Help()` and end well.
  absl::StatusOr<std::vector<std::string>> Parse(absl::Span<const std::string> arguments);

  const std::string& command() const { return command_; }

  /// The whole help page.
  std::string Help() const;

  /// Every flag's value in force, as text, by name. For the head of the results.
  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  using Setter = absl::AnyInvocable<absl::Status(const std::string&)>;
  struct Entry {
    Flag flag;
    bool is_switch = false;
    Setter set;
  };

  void Add(const Flag& flag, std::string default_text, Setter set);
  Entry* Find(const std::string& name);
  Entry* FindLetter(char letter);
  absl::Status Set(Entry& entry, const std::string& text);

  std::string command_;
  std::string usage_;
  std::string examples_;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> defaults_;
};

}  // namespace shoal::bench
