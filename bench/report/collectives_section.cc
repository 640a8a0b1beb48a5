#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "bench/report/chart.h"
#include "bench/report/html.h"
#include "bench/report/scale.h"
#include "bench/report/sections.h"
#include "bench/report/subjects.h"
#include "bench/table.h"

namespace shoal::bench {
namespace {

// The experiment's rows say how often they iterated; the table's have no such field.
bool IsExperiment(const Json& row) { return NumberAt(row, "iterations").has_value(); }

std::vector<Json> Where(const std::vector<Json>& rows, const std::string& key, double value) {
  std::vector<Json> matching;
  for (const Json& row : rows) {
    if (NumberAt(row, key) == value) matching.push_back(row);
  }
  return matching;
}

std::vector<Json> Where(const std::vector<Json>& rows, const std::string& key,
                        const std::string& value) {
  std::vector<Json> matching;
  for (const Json& row : rows) {
    if (TextAt(row, key) == value) matching.push_back(row);
  }
  return matching;
}

std::vector<double> NumbersOf(const std::vector<Json>& rows, const std::string& key) {
  std::vector<double> numbers;
  for (const Json& row : rows) {
    const std::optional<double> number = NumberAt(row, key);
    if (!number.has_value()) continue;
    if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end()) {
      numbers.push_back(*number);
    }
  }
  return numbers;
}

// A line an operation; colours are taken from the palette in turn.
Chart BandwidthChart(const std::vector<Json>& rows, double ranks, const std::string& place) {
  Chart chart{.title = absl::StrCat(ranks, " ranks, ", place == "in" ? "in place" : "out of place"),
              .x_label = "bytes",
              .y_label = "bus bandwidth, GB/s"};
  int color = 0;
  for (const std::string& op : ValuesOf(rows, "op")) {
    ChartSeries line = LineOf(Where(rows, "op", op), "shoal_local", {"bytes", "busbw_gb_per_s"});
    if (line.points.empty()) continue;
    line.name = op;
    line.color = color++ % 9;
    line.strong = false;
    chart.series.push_back(std::move(line));
  }
  return chart;
}

std::string TableCharts(const std::vector<Json>& rows) {
  std::string html = "<div class=\"charts\">\n";
  for (const double ranks : NumbersOf(rows, "ranks")) {
    for (const std::string& place : {std::string("out"), std::string("in")}) {
      const std::vector<Json> matching = Where(Where(rows, "ranks", ranks), "place", place);
      const std::string svg = RenderChart(BandwidthChart(matching, ranks, place));
      if (!svg.empty()) absl::StrAppend(&html, "<figure>", svg, "</figure>\n");
    }
  }
  return absl::StrCat(html, "</div>\n");
}

std::string TableRows(const std::vector<Json>& rows) {
  const std::vector<std::string> titles = {"op",         "place",      "dtype",  "ranks",
                                           "bytes",      "count",      "p50 µs", "p99 µs",
                                           "algbw GB/s", "busbw GB/s", "wrong",  "÷ memcpy"};
  std::vector<std::vector<std::string>> cells;
  for (const Json& row : rows) {
    const std::optional<double> ratio = RatioAt(row, "memcpy");
    cells.push_back(
        {TextAt(row, "op"), TextAt(row, "place"), TextAt(row, "dtype"),
         Significant(NumberAt(row, "ranks")),
         Grouped(static_cast<int64_t>(NumberAt(row, "bytes").value_or(0))),
         Grouped(static_cast<int64_t>(NumberAt(row, "count").value_or(0))),
         Significant(NumberAt(row, "p50_us")), Significant(NumberAt(row, "p99_us")),
         Significant(NumberAt(row, "algbw_gb_per_s")), Significant(NumberAt(row, "busbw_gb_per_s")),
         Significant(NumberAt(row, "wrong")), ratio.has_value() ? Significant(*ratio) : ""});
  }
  return Details("All rows", HtmlTable(titles, cells, 3));
}

std::string ExperimentCharts(const std::vector<Json>& rows, bool dot) {
  std::string html = "<div class=\"charts small\">\n";
  for (const std::string& op : ValuesOf(rows, "op")) {
    for (const double ranks : NumbersOf(rows, "ranks")) {
      std::vector<Json> matching;
      for (const Json& row : Where(Where(rows, "op", op), "ranks", ranks)) {
        if (row.value("dot", Json(false)) == Json(dot)) matching.push_back(row);
      }
      Chart chart{.title = absl::StrCat(op, ", ", ranks, " ranks", dot ? ", with dot" : ""),
                  .x_label = "float64 a rank",
                  .y_label = "time of an iteration",
                  .x = AxisKind::kNumber,
                  .y = AxisKind::kMicroseconds};
      for (const std::string& subject : ValuesOf(matching, "subject")) {
        chart.series.push_back(LineOf(matching, subject, {"count", "p50_us"}));
      }
      chart.labels = false;
      chart.width = 400;
      chart.height = 280;
      const std::string svg = RenderChart(chart);
      if (!svg.empty()) absl::StrAppend(&html, "<figure>", svg, "</figure>\n");
    }
  }
  return absl::StrCat(html, "</div>\n");
}

std::string ExperimentRows(const std::vector<Json>& rows) {
  const std::vector<std::string> titles = {"what",  "op",      "ranks",        "N a rank",
                                           "dot",   "total s", "µs/iteration", "GB/s",
                                           "wrong", "÷ mpi4py"};
  std::vector<std::vector<std::string>> cells;
  for (const Json& row : rows) {
    const std::optional<double> ratio = RatioAt(row, "mpi4py");
    cells.push_back(
        {TextAt(row, "subject"), TextAt(row, "op"), Significant(NumberAt(row, "ranks")),
         Grouped(static_cast<int64_t>(NumberAt(row, "count").value_or(0))),
         row.value("dot", Json(false)) == Json(true) ? "yes" : "no",
         Significant(NumberAt(row, "roundtrip_s")), Significant(NumberAt(row, "p50_us")),
         Significant(NumberAt(row, "algbw_gb_per_s")), Significant(NumberAt(row, "wrong")),
         ratio.has_value() ? Significant(*ratio) : ""});
  }
  return Details("All rows", HtmlTable(titles, cells, 2));
}

}  // namespace

std::string CollectivesSection(const std::vector<Json>& rows) {
  if (rows.empty()) return "";
  std::vector<Json> table;
  std::vector<Json> experiment;
  for (const Json& row : rows) (IsExperiment(row) ? experiment : table).push_back(row);
  std::string html = "<section><h2>Collectives between embedded workers</h2>\n";
  if (!table.empty()) {
    absl::StrAppend(&html,
                    "<p>As nccl-tests measures: bus bandwidth is normalised so that it compares "
                    "with the memory's own, whatever the number of ranks.</p>\n",
                    TableCharts(table), TableRows(table));
  }
  if (!experiment.empty()) {
    absl::StrAppend(&html,
                    "<h3>The mpi4py experiment</h3>\n<p>Scatter, gather and broadcast of float64 "
                    "arrays, with and without a dot product of each rank's part after each.</p>\n",
                    Legend(ValuesOf(experiment, "subject")), ExperimentCharts(experiment, false),
                    ExperimentCharts(experiment, true), ExperimentRows(experiment));
  }
  return absl::StrCat(html, "</section>\n");
}

}  // namespace shoal::bench
