#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "bench/report/chart.h"
#include "bench/report/html.h"
#include "bench/report/sections.h"
#include "bench/report/subjects.h"
#include "bench/table.h"

namespace shoal::bench {
namespace {

// Rows that are one chart: everything alike but subject and size.
struct Group {
  std::string title;
  std::vector<Json> rows;
};

std::string TitleOf(const Json& row) {
  const double threads = NumberAt(row, "threads").value_or(1);
  return absl::StrCat(TextAt(row, "program"), ", ", TextAt(row, "dtype"), ", ", threads,
                      threads > 1 ? " threads" : " thread");
}

bool IsBuilt(const Json& row) { return NumberAt(row, "call_us").has_value(); }

std::vector<Group> GroupsOf(const std::vector<Json>& rows) {
  std::vector<Group> groups;
  std::map<std::string, size_t> places;
  for (const Json& row : rows) {
    if (!IsBuilt(row)) continue;
    const std::string title = TitleOf(row);
    const auto [it, added] = places.try_emplace(title, groups.size());
    if (added) groups.push_back({title, {}});
    groups[it->second].rows.push_back(row);
  }
  return groups;
}

std::string ChartOf(const Group& group) {
  Chart chart{.title = group.title,
              .x_label = "elements",
              .y_label = "GB/s",
              .x = AxisKind::kNumber,
              .labels = false,
              .width = 400,
              .height = 280};
  for (const std::string& subject : ValuesOf(group.rows, "subject")) {
    chart.series.push_back(LineOf(group.rows, subject, {"elements", "gb_per_s"}));
  }
  const std::string svg = RenderChart(chart);
  return svg.empty() ? "" : absl::StrCat("<figure>", svg, "</figure>\n");
}

std::string ChartsOf(const std::vector<Json>& rows) {
  std::string html = "<div class=\"charts small\">\n";
  for (const Group& group : GroupsOf(rows)) absl::StrAppend(&html, ChartOf(group));
  return absl::StrCat(html, "</div>\n");
}

// Whom Shoal's rows are compared with, in the order of their first appearance.
std::vector<std::string> OthersOf(const std::vector<Json>& rows) {
  std::vector<std::string> others = ValuesOf(rows, "subject");
  others.erase(std::remove(others.begin(), others.end(), "shoal"), others.end());
  return others;
}

std::string RatioCell(const Json& row, const std::string& other) {
  const std::optional<double> ratio = RatioAt(row, other);
  return ratio.has_value() ? Significant(*ratio) : "";
}

std::string TableOf(const std::vector<Json>& rows) {
  const std::vector<std::string> others = OthersOf(rows);
  std::vector<std::string> titles = {"program", "dtype", "elements", "threads",
                                     "µs",      "GB/s",  "of limit"};
  for (const std::string& other : others) titles.push_back(absl::StrCat("÷ ", LookOf(other).title));
  titles.insert(titles.end(), {"max ulp", "first µs", "again µs", "wrong"});
  std::vector<std::vector<std::string>> cells;
  for (const Json& row : rows) {
    if (TextAt(row, "subject") != "shoal") continue;
    const auto cell = [&](const char* key) { return Significant(NumberAt(row, key)); };
    cells.push_back({TextAt(row, "program"), TextAt(row, "dtype"),
                     Grouped(static_cast<int64_t>(NumberAt(row, "elements").value_or(0))),
                     cell("threads"), IsBuilt(row) ? cell("call_us") : "not built",
                     cell("gb_per_s"), cell("of_limit")});
    for (const std::string& other : others) cells.back().push_back(RatioCell(row, other));
    for (const char* key : {"ulps", "first_us", "again_us", "wrong"}) {
      cells.back().push_back(cell(key));
    }
  }
  return Details("All rows", HtmlTable(titles, cells, 2));
}

}  // namespace

std::string KernelsSection(const std::vector<Json>& rows) {
  if (rows.empty()) return "";
  return absl::StrCat(
      "<section><h2>Programs on arrays</h2>\n"
      "<p>In one process, without a server. Each byte that a program must read or write counts "
      "once; <em>stream</em> moves the same bytes and computes nothing, <em>streaming stores</em> "
      "does so around the caches.</p>\n",
      Legend(ValuesOf(rows, "subject")), ChartsOf(rows), TableOf(rows), "</section>\n");
}

}  // namespace shoal::bench
