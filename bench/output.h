#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "bench/flags.h"
#include "bench/table.h"

namespace shoal::bench {

using Json = nlohmann::ordered_json;

/// Where results go: flags that every measuring subcommand has.
struct OutputOptions {
  bool csv = false;
  std::string json;  ///< A file; "-": standard output, and the table goes to the error stream.
};
void AddOutputFlags(FlagSet* flags, OutputOptions* options);

/// Prints rows as they are measured and keeps them for the JSON object.
///
/// Thread-safety: one thread at a time.
class Output {
 public:
  Output(OutputOptions options, Table table);

  /// Free text above or between rows, as "# ..." lines; not printed as CSV.
  void Note(const std::string& text);

  /// Goes on with other columns: their titles are printed before the next row.
  void Begin(Table table);

  /// Titles are printed before the first row.
  void Row(absl::Span<const std::string> cells, Json row);

  /// A row that is not printed, only kept for the JSON object.
  void Keep(Json row) { rows_.push_back(std::move(row)); }

  /// Writes {"head": head, "rows": [...]} where --json says.
  ///
  /// Errors: UNAVAILABLE  the file could not be written.
  absl::Status Finish(Json head);

  const Json& rows() const { return rows_; }

 private:
  void Print(const std::string& text);

  const OutputOptions options_;
  Table table_;
  std::FILE* stream_;
  bool titled_ = false;
  Json rows_ = Json::array();
};

/// Facts about this run, for the results' head: program, commit, machine, flags, time.
///
/// `flags` as FlagSet::values() has them; `command` is the command line.
Json MakeHead(const std::string& command, const std::map<std::string, std::string>& flags);

/// One line per fact of a head, for people.
std::string HeadText(const Json& head);

}  // namespace shoal::bench
