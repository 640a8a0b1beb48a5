#include "bench/kernels/row.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace shoal::bench {
namespace {

constexpr char kRatios[] = "speed as a ratio to";

std::string DTypeName(kernels::DType dtype) { return std::string(kernels::Name(dtype)); }

std::optional<double> RatioTo(const SubjectFigures& figures, const std::string& other) {
  const auto it = figures.ratio.find(other);
  return it == figures.ratio.end() ? std::nullopt : std::optional<double>(it->second);
}

Json NumberOrNull(const std::optional<double>& value) {
  // JSON has no infinity: an error without measure is no figure, and is counted as wrong.
  return value.has_value() && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json RowOf(const CasePoint& point, const std::string& subject, bool built) {
  return {{"bench", "kernels"},
          {"subject", subject},
          {"case", point.which->name},
          {"program", point.which->program},
          {"dtype", DTypeName(point.dtype)},
          {"elements", point.elements},
          {"threads", point.threads},
          {"built", built},
          {"call_us", nullptr},
          {"spread", nullptr},
          {"gb_per_s", nullptr},
          {"of_limit", nullptr},
          {"ulps", nullptr},
          {"ulps_from_shoal", nullptr},
          {"first_us", nullptr},
          {"again_us", nullptr},
          {"wrong", 0},
          {"ratio", Json::object()}};
}

Json RowOf(const CasePoint& point, const CaseFigures& figures, const SubjectFigures& subject) {
  Json row = RowOf(point, subject.name, true);
  row["call_us"] = subject.call_s * 1e6;
  row["spread"] = subject.spread;
  row["gb_per_s"] = subject.gb_per_s;
  row["of_limit"] = NumberOrNull(subject.of_limit);
  row["ulps"] = NumberOrNull(subject.ulps);
  row["ulps_from_shoal"] = NumberOrNull(subject.ulps_from_shoal);
  if (subject.name == "shoal") {
    row["first_us"] = figures.first_s * 1e6;
    row["again_us"] = figures.again_s * 1e6;
  }
  row["wrong"] = subject.wrong;
  for (const auto& [other, ratio] : subject.ratio) row["ratio"][other] = ratio;
  return row;
}

std::vector<std::string> PointCells(const CasePoint& point) {
  return {point.which->name, DTypeName(point.dtype), absl::StrCat(point.elements),
          absl::StrCat(point.threads)};
}

std::vector<std::string> CellsOf(const CasePoint& point, const CaseFigures& figures,
                                 const std::vector<std::string>& peers) {
  const SubjectFigures& own = figures.subjects.front();
  std::vector<std::string> cells = PointCells(point);
  for (const std::optional<double>& figure :
       {std::optional<double>(own.call_s * 1e6), std::optional<double>(own.gb_per_s), own.of_limit,
        RatioTo(own, "stream"), RatioTo(own, "stream_nt")}) {
    cells.push_back(Significant(figure));
  }
  for (const std::string& peer : peers) cells.push_back(Significant(RatioTo(own, peer)));
  cells.push_back(Significant(own.ulps));
  cells.push_back(Significant(figures.first_s * 1e6));
  cells.push_back(Significant(figures.again_s * 1e6));
  cells.push_back(absl::StrCat(WrongOf(figures)));
  return cells;
}

}  // namespace

Table KernelTable(const std::vector<std::string>& peers) {
  std::vector<Column> columns = {
      {"case", 15, true, ""},     {"dtype", 7, true, ""},        {"elements", 9, false, ""},
      {"thr", 3, false, ""},      {"us", 9, false, ""},          {"GB/s", 6, false, ""},
      {"of limit", 8, false, ""}, {"stream", 9, false, kRatios}, {"stream_nt", 9, false, kRatios}};
  for (const std::string& peer : peers) columns.push_back({peer, 9, false, kRatios});
  columns.insert(columns.end(), {{"max ulp", 7, false, ""},
                                 {"first us", 9, false, ""},
                                 {"again us", 9, false, ""},
                                 {"#wrong", 6, false, ""}});
  return Table(std::move(columns));
}

void AddRows(const CasePoint& point, const CaseFigures& figures,
             const std::vector<std::string>& peers, Output* output) {
  if (!figures.not_built.empty()) {
    std::vector<std::string> cells = PointCells(point);
    cells.emplace_back("not built");
    cells.resize(cells.size() + 8 + peers.size(), "-");
    output->Row(cells, RowOf(point, "shoal", false));
    return;
  }
  for (const SubjectFigures& subject : figures.subjects) {
    Json row = RowOf(point, figures, subject);
    if (subject.name == "shoal") {
      output->Row(CellsOf(point, figures, peers), std::move(row));
    } else {
      output->Keep(std::move(row));
    }
  }
}

int64_t WrongOf(const CaseFigures& figures) {
  int64_t wrong = 0;
  for (const SubjectFigures& subject : figures.subjects) wrong += subject.wrong;
  return wrong;
}

}  // namespace shoal::bench
