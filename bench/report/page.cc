#include "bench/report/page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/units.h"
#include "bench/report/html.h"
#include "bench/report/sections.h"
#include "bench/report/style.h"
#include "bench/table.h"

namespace shoal::bench {
namespace {

std::string Fact(const std::string& name, const std::string& value) {
  if (value.empty()) return "";
  return absl::StrCat("<div><dt>", Escape(name), "</dt><dd>", Escape(value), "</dd></div>\n");
}

std::string WideFact(const std::string& name, const std::string& code) {
  if (code.empty()) return "";
  return absl::StrCat("<div class=\"wide\"><dt>", Escape(name), "</dt><dd><code>", Escape(code),
                      "</code></dd></div>\n");
}

// Flags in force that the command line does not show.
std::string FlagsText(const Json& head) {
  const auto it = head.find("flags");
  if (it == head.end() || !it->is_object()) return "";
  std::vector<std::string> words;
  for (const auto& [name, value] : it->items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) words.push_back(absl::StrCat("--", name, "=", text));
  }
  return absl::StrJoin(words, " ");
}

std::string Facts(const Document& document) {
  const Json& head = document.head;
  const auto it = head.find("machine");
  const Json machine = it != head.end() && it->is_object() ? *it : Json::object();
  const auto memory = static_cast<int64_t>(NumberAt(machine, "memory_bytes").value_or(0));
  return absl::StrCat(
      "<dl class=\"facts\">\n", Fact("Commit", TextAt(head, "commit")),
      Fact("Version", absl::StrCat(TextAt(head, "version"), ", ", TextAt(head, "build"))),
      Fact("Time", TextAt(head, "time")),
      Fact("Processor", absl::StrCat(TextAt(machine, "cpu"), ", ",
                                     Significant(NumberAt(machine, "cores")), " cores")),
      Fact("Memory", FormatBytes(memory)),
      Fact("System", absl::StrCat(TextAt(machine, "os"), ", ", TextAt(machine, "kernel"))),
      Fact("gRPC", TextAt(head, "grpc")), WideFact("Command", TextAt(head, "command")),
      WideFact("Flags", FlagsText(head)), "</dl>\n");
}

// Whether everything that was measured was also right: the first thing to know.
std::string Verdict(const std::vector<Document>& documents) {
  int64_t rows = 0;
  double wrong = 0;
  for (const Document& document : documents) {
    for (const Json& row : document.rows) {
      ++rows;
      wrong += NumberAt(row, "wrong").value_or(0);
    }
  }
  if (wrong == 0) {
    return absl::StrCat("<span class=\"verdict\">0 wrong</span> in ", Grouped(rows),
                        " rows: every reply was compared with what it must be.");
  }
  return absl::StrCat("<span class=\"verdict bad\">", Escape(Grouped(static_cast<int64_t>(wrong))),
                      " wrong bytes or elements.</span> These figures mean nothing.");
}

}  // namespace

std::string BuildPage(const std::vector<Document>& documents) {
  std::string html = absl::StrCat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Shoal benchmark report</title>\n<style>",
      kStyle, "</style>\n</head>\n<body>\n<h1>Shoal benchmark report</h1>\n<p class=\"sub\">",
      Verdict(documents), "</p>\n");
  for (const Document& document : documents) absl::StrAppend(&html, Facts(document));
  absl::StrAppend(&html, Tiles(documents), SweepSection(RowsOf(documents, "sweep")),
                  TasksSection(RowsOf(documents, "tasks")),
                  CollectivesSection(RowsOf(documents, "collectives")),
                  "<footer>Ratios compare within one run on one machine: medians of rounds in "
                  "which everything took its turn. Method and formulas: "
                  "docs/benchmarks.md.</footer>\n</body>\n</html>\n");
  return html;
}

}  // namespace shoal::bench
