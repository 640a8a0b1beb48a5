#include "bench/report/report_command.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/command.h"
#include "bench/flags.h"
#include "bench/report/document.h"
#include "bench/report/page.h"

namespace shoal::bench {
namespace {

constexpr char kUsage[] =
    "one self-contained HTML page out of results in JSON.\n"
    "\n"
    "Usage: shoal-bench report RESULTS.json... [-o PAGE.html]\n"
    "Several files become one page. - reads standard input.";

constexpr char kExamples[] =
    "  shoal-bench sweep --op put,get --json sweep.json\n"
    "  shoal-bench tasks --batched --json tasks.json\n"
    "  shoal-bench report sweep.json tasks.json -o report.html\n";

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& input = path == "-" ? std::cin : file;
  if (!input) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  return std::string(std::istreambuf_iterator<char>(input), {});
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::ostream& output = path == "-" ? std::cout : file;
  output << text;
  output.flush();
  if (output) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path));
}

absl::Status Run(const std::vector<std::string>& inputs, const std::string& output) {
  if (inputs.empty()) return absl::InvalidArgumentError("name the JSON of a run; see --help");
  std::vector<Document> documents;
  for (const std::string& input : inputs) {
    SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadFile(input));
    SHOAL_ASSIGN_OR_RETURN(Document document, ParseDocument(input, text));
    documents.push_back(std::move(document));
  }
  SHOAL_RETURN_IF_ERROR(WriteFile(output, BuildPage(documents)));
  if (output != "-") std::printf("%s\n", output.c_str());
  return absl::OkStatus();
}

}  // namespace

int ReportCommand(absl::Span<const std::string> arguments) {
  std::string output = "report.html";
  std::vector<std::string> inputs;
  FlagSet set("report", kUsage, kExamples);
  set.AddText({"output", 'o', "FILE", "Where the page goes; - for standard output."}, &output);
  if (const auto exit_status = ParseOrExplain(&set, arguments, &inputs)) return *exit_status;
  return ExitStatus("report", {Run(inputs, output)}, 0);
}

}  // namespace shoal::bench
