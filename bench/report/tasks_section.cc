#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/units.h"
#include "bench/report/chart.h"
#include "bench/report/html.h"
#include "bench/report/sections.h"
#include "bench/report/subjects.h"
#include "bench/table.h"

namespace shoal::bench {
namespace {

// A subject in one of its modes: a line of its own.
std::vector<Json> WithMode(const std::vector<Json>& rows, const std::string& mode) {
  std::vector<Json> matching;
  for (const Json& row : rows) {
    if (TextAt(row, "mode") == mode) matching.push_back(row);
  }
  return matching;
}

std::string ModeText(const std::string& mode) { return absl::StrReplaceAll(mode, {{"_", " "}}); }

std::vector<ChartSeries> LinesOf(const std::vector<Json>& rows, const std::string& y) {
  std::vector<ChartSeries> lines;
  for (const std::string& mode : {std::string("one_by_one"), std::string("batched")}) {
    const std::vector<Json> matching = WithMode(rows, mode);
    for (const std::string& subject : ValuesOf(matching, "subject")) {
      ChartSeries line = LineOf(matching, subject, {"count", y});
      if (mode == "batched" && subject == "shoal") {
        line.name = absl::StrCat(line.name, ", batched");
        line.color = 8;
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string ChartsOf(const std::vector<Json>& rows) {
  Chart rate{.title = "Rate",
             .x_label = "tasks in the flood",
             .y_label = "tasks a second",
             .x = AxisKind::kNumber,
             .series = LinesOf(rows, "ops_per_s")};
  Chart times{.title = "Time of the whole flood: roundtrip, and sent (dashed)",
              .x_label = "tasks in the flood",
              .y_label = "seconds",
              .x = AxisKind::kNumber,
              .series = LinesOf(rows, "roundtrip_s")};
  for (ChartSeries& sent : LinesOf(rows, "sent_s")) {
    sent.dashed = true;
    sent.strong = false;
    sent.name = absl::StrCat(sent.name, ", sent");
    times.series.push_back(std::move(sent));
  }
  return absl::StrCat("<div class=\"charts\">\n<figure>", RenderChart(rate), "</figure>\n<figure>",
                      RenderChart(times), "</figure>\n</div>\n");
}

std::string Cell(const Json& row, const std::string& key) {
  return Significant(NumberAt(row, key));
}

// Those of a run with --peers.
std::vector<std::string> PeersOf(const std::vector<Json>& rows) {
  std::vector<std::string> peers;
  for (const std::string& subject : ValuesOf(rows, "subject")) {
    if (subject == "ipyparallel" || subject == "dask") peers.push_back(subject);
  }
  return peers;
}

std::string TableOf(const std::vector<Json>& rows) {
  const std::vector<std::string> peers = PeersOf(rows);
  std::vector<std::string> titles = {"what",        "mode",           "tasks",          "sent s",
                                     "roundtrip s", "tasks/s",        "p50 µs",         "p90 µs",
                                     "p99 µs",      "client µs/task", "server µs/task", "peak MiB",
                                     "wrong",       "÷ gRPC unary",   "÷ gRPC messages"};
  for (const std::string& peer : peers) titles.push_back(absl::StrCat("÷ ", LookOf(peer).title));
  std::vector<std::vector<std::string>> cells;
  for (const Json& row : rows) {
    const double peak = NumberAt(row, "peak_rss_bytes").value_or(0) / static_cast<double>(kMiB);
    const auto ratio = [&](const std::string& name) {
      const std::optional<double> value = RatioAt(row, name);
      return value.has_value() ? Significant(*value) : std::string();
    };
    cells.push_back({TextAt(row, "subject"), ModeText(TextAt(row, "mode")),
                     Grouped(static_cast<int64_t>(NumberAt(row, "count").value_or(0))),
                     Cell(row, "sent_s"), Cell(row, "roundtrip_s"), Cell(row, "ops_per_s"),
                     Cell(row, "p50_us"), Cell(row, "p90_us"), Cell(row, "p99_us"),
                     Cell(row, "cpu_client_us_per_task"), Cell(row, "cpu_server_us_per_task"),
                     Significant(peak), Cell(row, "wrong"), ratio("grpc_unary"),
                     ratio("grpc_messages")});
    for (const std::string& peer : peers) cells.back().push_back(ratio(peer));
  }
  return HtmlTable(titles, cells, 2);
}

}  // namespace

std::string TasksSection(const std::vector<Json>& rows) {
  if (rows.empty()) return "";
  std::string html =
      "<section><h2>Tiny tasks</h2>\n"
      "<p>Floods of empty tasks. <em>Sent</em> is the time from the first submit to the return of "
      "the last one, <em>roundtrip</em> the time to the last result.</p>\n";
  for (const std::string& plane : ValuesOf(rows, "plane")) {
    std::vector<Json> matching;
    for (const Json& row : rows) {
      if (TextAt(row, "plane") == plane) matching.push_back(row);
    }
    absl::StrAppend(&html, "<h3>plane ", Escape(plane), "</h3>\n", ChartsOf(matching),
                    TableOf(matching));
  }
  return absl::StrCat(html, "</section>\n");
}

}  // namespace shoal::bench
