#include "client/cli/throughput_view.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "client/cli/text.h"

namespace shoal::cli {
namespace {

using SeriesKey = std::tuple<std::string, Route, std::string>;

// Throughput by size class: index 0 is the empty payload, k is [2^(k-1), 2^k).
struct Series {
  std::array<double, 64> rates{};
};

size_t ClassOf(int64_t bytes_min) {
  return std::min<size_t>(
      63,
      static_cast<size_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(0, bytes_min)))));
}

std::string Table(const ThroughputReport& report) {
  using Align = TextTable::Align;
  TextTable table({{"OP"},
                   {"ROUTE"},
                   {"PLANE"},
                   {"PAYLOAD", Align::kRight},
                   {"CALLS", Align::kRight},
                   {"FAILED", Align::kRight},
                   {"THROUGHPUT", Align::kRight},
                   {"P50", Align::kRight},
                   {"P90", Align::kRight},
                   {"P99", Align::kRight},
                   {"MAX", Align::kRight}});
  for (const ThroughputRow& row : report.rows) {
    table.AddRow({row.op, FormatRoute(row.route), row.plane, FormatBytes(row.bytes_min),
                  absl::StrCat(row.call_count), absl::StrCat(row.failed_count),
                  FormatRate(row.bytes_per_second), FormatTime(row.p50), FormatTime(row.p90),
                  FormatTime(row.p99), FormatTime(row.max)});
  }
  return table.ToString();
}

}  // namespace

std::string Sparkline(const std::vector<double>& values, const SparkScale& scale, bool unicode) {
  static constexpr std::array<const char*, 8> kBlocks = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                         "\u2585", "\u2586", "\u2587", "\u2588"};
  static constexpr std::array<const char*, 8> kLetters = {"_", ".", ":", "-", "=", "+", "*", "#"};
  const std::array<const char*, 8>& heights = unicode ? kBlocks : kLetters;
  const double range = std::log(scale.high / scale.low);
  std::string line;
  for (const double value : values) {
    if (!(value > 0)) {
      line += ' ';
      continue;
    }
    const double share = range > 0 ? std::log(value / scale.low) / range : 1;
    line += heights[static_cast<size_t>(std::clamp(share * 7.999, 0.0, 7.0))];
  }
  return line;
}

std::string ThroughputText(const ThroughputReport& report, bool unicode) {
  if (report.rows.empty()) return "No calls yet.\n";
  std::map<SeriesKey, Series> all;
  SparkScale scale = {.low = std::numeric_limits<double>::infinity(), .high = 0};
  size_t first = 63;
  size_t last = 0;
  for (const ThroughputRow& row : report.rows) {
    if (row.bytes_min <= 0 || !(row.bytes_per_second > 0)) continue;
    const size_t size = ClassOf(row.bytes_min);
    all[{row.op, row.route, row.plane}].rates[size] = row.bytes_per_second;
    first = std::min(first, size);
    last = std::max(last, size);
    scale.low = std::min(scale.low, row.bytes_per_second);
    scale.high = std::max(scale.high, row.bytes_per_second);
  }
  std::string text = Table(report);
  if (all.empty()) return text;

  absl::StrAppend(&text, "\nThroughput against payload, ", FormatBytes(int64_t{1} << (first - 1)),
                  " to ", FormatBytes(int64_t{1} << (last - 1)), ", a column a power of two; ",
                  FormatRate(scale.low), " to ", FormatRate(scale.high), ", logarithmic:\n");
  size_t width = 0;
  const auto label = [](const SeriesKey& key) {
    return absl::StrCat("  ", Printable(std::get<0>(key)), " ", FormatRoute(std::get<1>(key)), " ",
                        Printable(std::get<2>(key)));
  };
  for (const auto& [key, series] : all) width = std::max(width, label(key).size());
  for (const auto& [key, series] : all) {
    const std::vector<double> shown(series.rates.begin() + static_cast<ptrdiff_t>(first),
                                    series.rates.begin() + static_cast<ptrdiff_t>(last) + 1);
    const double best = *std::max_element(shown.begin(), shown.end());
    std::string name = label(key);
    name.resize(width, ' ');
    absl::StrAppend(&text, name, "  |", Sparkline(shown, scale, unicode), "|  best ",
                    FormatRate(best), "\n");
  }
  return text;
}

}  // namespace shoal::cli
