#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace shoal::bench {

/// A column of a table that is printed row by row, before the last row is known.
struct Column {
  std::string title;
  int width = 8;      ///< At least; a longer cell pushes the rest of its row to the right.
  bool left = false;  ///< Words stand left, numbers right.
  std::string group;  ///< Printed above runs of columns that share it. May be empty.
};

/// Lays out rows as aligned text or as CSV.
///
/// Thread-safety: immutable.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// The titles: one line, or two where columns have groups, and a rule below. Ends with a newline.
  std::string Heading() const;

  /// One row; as many cells as columns. Ends with a newline.
  std::string Line(absl::Span<const std::string> cells) const;

  /// RFC 4180: titles with their groups ("ratio raw_tcp"), then rows.
  std::string CsvHeading() const;
  std::string CsvLine(absl::Span<const std::string> cells) const;

 private:
  std::string GroupLine() const;

  std::vector<Column> columns_;
};

/// Three significant digits: "0.0123", "1.23", "12.3", "123", "12345"; two below 0.00095:
/// "5.6e-05".
std::string Significant(double value);

/// As Significant; "-" for nothing.
std::string Significant(const std::optional<double>& value);

/// "1,234,567".
std::string Grouped(int64_t value);

}  // namespace shoal::bench
