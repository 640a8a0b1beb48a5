#include "bench/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"

namespace shoal::bench {
namespace {

constexpr absl::string_view kGap = "  ";
// Smaller numbers would be mostly zeros.
constexpr double kPlainMin = 0.00095;

// What is written, in characters: a multi-byte character is one.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Padded(const std::string& text, int width, bool left) {
  const auto wanted = static_cast<size_t>(width);
  if (Width(text) >= wanted) return text;
  const std::string space(wanted - Width(text), ' ');
  return left ? absl::StrCat(text, space) : absl::StrCat(space, text);
}

std::string TrimmedLine(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  line.push_back('\n');
  return line;
}

std::string Quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  return absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) {
    column.width = std::max(column.width, static_cast<int>(Width(column.title)));
  }
}

std::string Table::GroupLine() const {
  std::string line;
  for (size_t i = 0; i < columns_.size();) {
    size_t end = i;
    int width = 0;
    while (end < columns_.size() && columns_[end].group == columns_[i].group) {
      width += columns_[end].width + (end > i ? static_cast<int>(kGap.size()) : 0);
      ++end;
    }
    std::string title = columns_[i].group;
    if (!title.empty()) {
      const auto free_width = width - static_cast<int>(Width(title)) - 2;
      const int before = std::max(free_width / 2, 0);
      const int after = std::max(free_width - before, 0);
      title = absl::StrCat(std::string(static_cast<size_t>(before), '-'), " ", title, " ",
                           std::string(static_cast<size_t>(after), '-'));
    }
    absl::StrAppend(&line, Padded(title, width, true), kGap);
    i = end;
  }
  return TrimmedLine(std::move(line));
}

std::string Table::Heading() const {
  const bool grouped = std::any_of(columns_.begin(), columns_.end(),
                                   [](const Column& column) { return !column.group.empty(); });
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    rules.emplace_back(static_cast<size_t>(column.width), '-');
  }
  return absl::StrCat(grouped ? GroupLine() : "", Line(titles), Line(rules));
}

std::string Table::Line(absl::Span<const std::string> cells) const {
  SHOAL_CHECK(cells.size() == columns_.size());
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) absl::StrAppend(&line, kGap);
    absl::StrAppend(&line, Padded(cells[i], columns_[i].width, columns_[i].left));
  }
  return TrimmedLine(std::move(line));
}

std::string Table::CsvHeading() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    titles.push_back(column.group.empty() ? column.title
                                          : absl::StrCat(column.group, " ", column.title));
  }
  return CsvLine(titles);
}

std::string Table::CsvLine(absl::Span<const std::string> cells) const {
  SHOAL_CHECK(cells.size() == columns_.size());
  return absl::StrCat(absl::StrJoin(cells, ",",
                                    [](std::string* out, const std::string& cell) {
                                      absl::StrAppend(out, Quoted(cell));
                                    }),
                      "\n");
}

std::string Significant(double value) {
  const double size = std::abs(value);
  if (size == 0 || !std::isfinite(value)) return size == 0 ? "0" : absl::StrCat(value);
  if (size < kPlainMin) return absl::StrFormat("%.1e", value);
  // Rounding first keeps 9.996 from becoming "10.00".
  const int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-12));
  const double unit = std::pow(10.0, exponent - 2);
  const double rounded = std::round(value / unit) * unit;
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-12));
  return absl::StrFormat("%.*f", std::clamp(2 - digits, 0, 12), digits > 2 ? value : rounded);
}

std::string Significant(const std::optional<double>& value) {
  return value.has_value() ? Significant(*value) : "-";
}

std::string Grouped(int64_t value) {
  std::string digits = absl::StrCat(value);
  for (auto place = static_cast<int64_t>(digits.size()) - 3; place > (value < 0 ? 1 : 0);
       place -= 3) {
    digits.insert(static_cast<size_t>(place), ",");
  }
  return digits;
}

}  // namespace shoal::bench
