#include "client/cli/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/units.h"

namespace shoal::cli {

void TextTable::AddRow(std::vector<std::string> cells) {
  SHOAL_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  std::vector<size_t> widths(columns_.size());
  std::vector<const std::vector<std::string>*> lines = {&headings};
  for (const std::vector<std::string>& row : rows_) lines.push_back(&row);
  for (const std::vector<std::string>* line : lines) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], (*line)[i].size());
  }
  std::string out;
  for (const std::vector<std::string>* line : lines) {
    std::string text;
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = (*line)[i];
      const std::string padding(widths[i] - cell.size(), ' ');
      const bool right = columns_[i].align == Align::kRight;
      absl::StrAppend(&text, i > 0 ? "  " : "", right ? padding : "", cell, right ? "" : padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    absl::StrAppend(&out, text, "\n");
  }
  return out;
}

std::string Printable(const std::string& text) {
  std::string out = text;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = '?';
  }
  return out;
}

std::string PrintableLines(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  return absl::StrJoin(
      lines, "\n", [](std::string* out, const std::string& line) { out->append(Printable(line)); });
}

std::string FormatTime(std::chrono::nanoseconds time) {
  struct Unit {
    const char* name;
    double ns;
  };
  double value = static_cast<double>(time.count());
  for (const Unit& unit : {Unit{"s", 1e9}, Unit{"ms", 1e6}, Unit{"us", 1e3}}) {
    // Below 999.5 the three digits of the smaller unit do.
    if (value < 0.9995 * unit.ns) continue;
    value /= unit.ns;
    const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return absl::StrFormat("%.*f %s", decimals, value, unit.name);
  }
  return absl::StrCat(time.count(), " ns");
}

std::string FormatRate(double bytes_per_second) {
  const double bounded = std::clamp(bytes_per_second, 0.0, 9e18);
  return absl::StrCat(FormatBytes(std::llround(bounded)), "/s");
}

std::string FormatShape(const Shape& shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

std::string FormatDistribution(const Distribution& distribution) {
  std::string text;
  switch (distribution.kind) {
    case Distribution::Kind::kBlock:
      text = "block";
      break;
    case Distribution::Kind::kReplicated:
      text = "replicated";
      break;
    case Distribution::Kind::kSingle:
      text = "single";
      break;
  }
  if (distribution.workers.empty()) return text;
  return absl::StrCat(text, ":", absl::StrJoin(distribution.workers, ","));
}

std::string FormatRoute(Route route) {
  switch (route) {
    case Route::kDefault:
      return "";
    case Route::kFront:
      return "front";
    case Route::kWorker:
      return "worker";
    case Route::kDevice:
      return "device";
  }
  SHOAL_UNREACHABLE("route");
}

}  // namespace shoal::cli
