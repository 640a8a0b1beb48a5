#include "bench/output.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace shoal::bench {

void AddOutputFlags(FlagSet* flags, OutputOptions* options) {
  flags->AddSwitch({"csv", '\0', "", "Print rows as CSV instead of a table."}, &options->csv);
  flags->AddText({"json", '\0', "FILE", "Also write everything as JSON; - for standard output."},
                 &options->json);
}

Output::Output(OutputOptions options, Table table)
    : options_(std::move(options)),
      table_(std::move(table)),
      stream_(options_.json == "-" ? stderr : stdout) {}

void Output::Print(const std::string& text) {
  std::fputs(text.c_str(), stream_);
  std::fflush(stream_);  // A row is worth reading before the next one is there.
}

void Output::Note(const std::string& text) {
  if (options_.csv) return;
  Print(absl::StrCat("# ", absl::StrReplaceAll(text, {{"\n", "\n# "}}), "\n"));
}

void Output::Begin(Table table) {
  if (titled_) Print("\n");
  table_ = std::move(table);
  titled_ = false;
}

void Output::Row(absl::Span<const std::string> cells, Json row) {
  if (!titled_) Print(options_.csv ? table_.CsvHeading() : table_.Heading());
  titled_ = true;
  Print(options_.csv ? table_.CsvLine(cells) : table_.Line(cells));
  rows_.push_back(std::move(row));
}

absl::Status Output::Finish(Json head) {
  if (options_.json.empty()) return absl::OkStatus();
  Json document = {{"head", std::move(head)}, {"rows", rows_}};
  const std::string text =
      absl::StrCat(document.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
  std::FILE* file = options_.json == "-" ? stdout : std::fopen(options_.json.c_str(), "w");
  if (file == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot write ", options_.json, ": ", strerror(errno)));
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file == stdout ? std::fflush(file) == 0 : std::fclose(file) == 0;
  if (written && closed) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", options_.json));
}

}  // namespace shoal::bench
