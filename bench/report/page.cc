#include "bench/report/page.h"

#include <algorithm>
#include <utility>

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

// Flags in force, also those that the command line does not show.
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

std::string Code(const std::string& text) {
  return absl::StrCat("<code>", Escape(text), "</code>");
}

// What a run was measured with, but for its own command and time.
std::string MachineFacts(const Json& head) {
  const auto it = head.find("machine");
  const Json machine = it != head.end() && it->is_object() ? *it : Json::object();
  const auto memory = static_cast<int64_t>(NumberAt(machine, "memory_bytes").value_or(0));
  const double cores = NumberAt(machine, "cores").value_or(0);
  return absl::StrCat(
      Fact("Commit", TextAt(head, "commit")),
      Fact("Version", absl::StrCat(TextAt(head, "version"), ", ", TextAt(head, "build"))),
      Fact("Processor", absl::StrCat(TextAt(machine, "cpu"), ", ", cores, " cores")),
      Fact("Memory", FormatBytes(memory)), Fact("System", TextAt(machine, "os")),
      Fact("Kernel", TextAt(machine, "kernel")), Fact("gRPC", TextAt(head, "grpc")));
}

std::string RunFacts(const Json& head) {
  return absl::StrCat("<div class=\"wide\"><dt>", Escape(TextAt(head, "time")), "</dt><dd>",
                      Code(TextAt(head, "command")), Details("flags", Code(FlagsText(head))),
                      "</dd></div>\n");
}

// Runs of one program on one machine share a panel.
std::string Heads(const std::vector<Document>& documents) {
  std::vector<std::pair<std::string, std::string>> panels;  // Machine and program; their runs.
  for (const Document& document : documents) {
    const std::string machine = MachineFacts(document.head);
    auto panel = std::find_if(panels.begin(), panels.end(),
                              [&](const auto& other) { return other.first == machine; });
    if (panel == panels.end()) panel = panels.insert(panels.end(), {machine, ""});
    absl::StrAppend(&panel->second, RunFacts(document.head));
  }
  std::string html;
  for (const auto& [machine, runs] : panels) {
    absl::StrAppend(&html, "<dl class=\"facts\">\n", machine, runs, "</dl>\n");
  }
  return html;
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
  absl::StrAppend(&html, Heads(documents), Tiles(documents),
                  SweepSection(RowsOf(documents, "sweep")),
                  TasksSection(RowsOf(documents, "tasks")),
                  CollectivesSection(RowsOf(documents, "collectives")),
                  KernelsSection(RowsOf(documents, "kernels")),
                  "<footer>Ratios compare within one run on one machine: medians of rounds in "
                  "which everything took its turn. Method and formulas: "
                  "docs/benchmarks.md.</footer>\n</body>\n</html>\n");
  return html;
}

}  // namespace shoal::bench
