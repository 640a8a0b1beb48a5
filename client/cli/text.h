#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/call.h"
#include "shoal/dtype.h"

namespace shoal::cli {

/// Rows under headings, columns aligned: numbers and sizes to the right, words to the left.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns. They are made `Printable`.
  void AddRow(std::vector<std::string> cells);

  std::string ToString() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` with '?' for control characters: what a peer named cannot move the reader's cursor.
std::string Printable(const std::string& text);

/// The same, but line ends stay.
std::string PrintableLines(const std::string& text);

/// Three significant digits and a unit: "980 ns", "1.25 us", "3.00 ms", "12.5 s".
std::string FormatTime(std::chrono::nanoseconds time);

/// "1.50 GiB/s".
std::string FormatRate(double bytes_per_second);

/// As Python prints it: "()", "(3,)", "(2, 3)".
std::string FormatShape(const Shape& shape);

/// As ParseDistribution reads it.
std::string FormatDistribution(const Distribution& distribution);

/// "worker"; "" for the default.
std::string FormatRoute(Route route);

}  // namespace shoal::cli
