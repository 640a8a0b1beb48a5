#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "bench/report/chart.h"
#include "bench/report/html.h"
#include "bench/report/scale.h"
#include "bench/report/sections.h"
#include "bench/report/subjects.h"
#include "bench/table.h"

namespace shoal::bench {
namespace {

// Rows that belong into one set of charts: everything alike but subject and size. Ceilings have
// neither route nor Shoal's plane, so they belong to the Shoal rows that they were measured with:
// those since which the set began.
struct Group {
  std::string title;
  std::vector<Json> rows;
};

std::string TitleOf(const Json& row) {
  std::string title = TextAt(row, "op");
  if (!TextAt(row, "function").empty()) absl::StrAppend(&title, " ", TextAt(row, "function"));
  if (title == "echo" && !TextAt(row, "route").empty()) {
    absl::StrAppend(&title, " to the ", TextAt(row, "route"));
  }
  if (TextAt(row, "subject") == "shoal") absl::StrAppend(&title, ", plane ", TextAt(row, "plane"));
  const double callers = NumberAt(row, "concurrency").value_or(1);
  if (callers > 1) absl::StrAppend(&title, ", ", callers, " callers");
  const double in_flight = NumberAt(row, "in_flight").value_or(1);
  if (in_flight > 1) absl::StrAppend(&title, ", ", in_flight, " in flight");
  return title;
}

std::vector<Group> GroupsOf(const std::vector<Json>& rows) {
  const bool has_shoal = std::any_of(
      rows.begin(), rows.end(), [](const Json& row) { return TextAt(row, "subject") == "shoal"; });
  std::vector<Group> groups;
  for (const Json& row : rows) {
    const bool leads = TextAt(row, "subject") == "shoal" || !has_shoal;
    const std::string title = TitleOf(row);
    const bool opens = groups.empty() || (leads && groups.back().title != title);
    if (opens) groups.push_back({title, {}});
    groups.back().rows.push_back(row);
  }
  return groups;
}

std::vector<ChartSeries> LinesOf(const Group& group, const std::string& y,
                                 const std::vector<std::string>& without) {
  std::vector<ChartSeries> lines;
  for (const std::string& subject : ValuesOf(group.rows, "subject")) {
    if (std::find(without.begin(), without.end(), subject) != without.end()) continue;
    lines.push_back(LineOf(group.rows, subject, {"bytes", y}));
  }
  return lines;
}

std::string ChartsOf(const Group& group) {
  // A signal carries no payload, and memcpy has no process to wake.
  Chart throughput{.title = "Throughput",
                   .x_label = "payload",
                   .y_label = "GiB/s",
                   .series = LinesOf(group, "gib_per_s", {"signal"})};
  Chart latency{.title = "Latency, median",
                .x_label = "payload",
                .y_label = "time of a call",
                .y = AxisKind::kMicroseconds,
                .series = LinesOf(group, "p50_us", {})};
  Chart tail{.title = "Latency, 99th percentile",
             .x_label = "payload",
             .y_label = "time of a call",
             .y = AxisKind::kMicroseconds,
             .series = LinesOf(group, "p99_us", {})};
  Chart cpu{.title = "Processor time, client and server together",
            .x_label = "payload",
            .y_label = "CPU seconds per GB",
            .series = LinesOf(group, "cpu_s_per_gb", {"signal"})};
  std::string html = "<div class=\"charts\">\n";
  for (const Chart& chart : {throughput, latency, cpu, tail}) {
    const std::string svg = RenderChart(chart);
    if (!svg.empty()) absl::StrAppend(&html, "<figure>", svg, "</figure>\n");
  }
  return absl::StrCat(html, "</div>\n");
}

std::string Cell(const Json& row, const std::string& key) {
  return Significant(NumberAt(row, key));
}

std::string Mebibytes(const Json& row, const std::string& key) {
  const std::optional<double> bytes = NumberAt(row, key);
  return bytes.has_value() ? Significant(*bytes / static_cast<double>(kMiB)) : "-";
}

std::string TableOf(const Group& group) {
  std::vector<std::string> ceilings;
  for (const std::string& subject : ValuesOf(group.rows, "subject")) {
    if (subject != "shoal") ceilings.push_back(subject);
  }
  std::vector<std::string> titles = {"what",     "payload",  "calls/s", "GiB/s",  "p50 µs",
                                     "p90 µs",   "p99 µs",   "max µs",  "sent s", "roundtrip s",
                                     "CPU-s/GB", "peak MiB", "wrong"};
  for (const std::string& ceiling : ceilings) {
    titles.push_back(absl::StrCat("÷ ", LookOf(ceiling).title));
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : group.rows) {
    std::vector<std::string> cells = {
        TextAt(row, "subject"),    BytesLabel(NumberAt(row, "bytes").value_or(0)),
        Cell(row, "ops_per_s"),    Cell(row, "gib_per_s"),
        Cell(row, "p50_us"),       Cell(row, "p90_us"),
        Cell(row, "p99_us"),       Cell(row, "max_us"),
        Cell(row, "sent_s"),       Cell(row, "roundtrip_s"),
        Cell(row, "cpu_s_per_gb"), Mebibytes(row, "peak_rss_bytes"),
        Cell(row, "wrong")};
    for (const std::string& ceiling : ceilings) {
      const std::optional<double> ratio = RatioAt(row, ceiling);
      cells.push_back(ratio.has_value() ? Significant(*ratio) : "");
    }
    rows.push_back(std::move(cells));
  }
  return Details("All rows", HtmlTable(titles, rows, 1));
}

}  // namespace

std::string SweepSection(const std::vector<Json>& rows) {
  if (rows.empty()) return "";
  std::string html =
      "<section><h2>Payload size</h2>\n"
      "<p>One call at a time unless the title says otherwise; both axes logarithmic. Payload is "
      "one array's bytes, counted once whatever travels each way. The other lines are what the "
      "same "
      "bytes cost without Shoal, measured in the same rounds.</p>\n";
  for (const Group& group : GroupsOf(rows)) {
    absl::StrAppend(&html, "<h3>", Escape(group.title), "</h3>\n",
                    Legend(ValuesOf(group.rows, "subject")), ChartsOf(group), TableOf(group));
  }
  return absl::StrCat(html, "</section>\n");
}

}  // namespace shoal::bench
