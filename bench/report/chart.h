#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::bench {

struct Point {
  double x = 0;
  double y = 0;
};

/// One line of a chart.
struct ChartSeries {
  std::string name;
  int color = 0;              ///< Index into the page's palette (0: Shoal's).
  bool dashed = false;        ///< And without a name at its end.
  bool strong = false;        ///< Drawn thick and on top: what the page is about.
  std::vector<Point> points;  ///< By x. Points that are not positive are left out.
};

enum class AxisKind : uint8_t {
  kBytes,         ///< Powers of two: "8 B", "4 KiB".
  kNumber,        ///< Powers of ten: "1k".
  kMicroseconds,  ///< Powers of ten: "20 µs".
};

struct Chart {
  std::string title;
  std::string x_label;
  std::string y_label;
  AxisKind x = AxisKind::kBytes;
  AxisKind y = AxisKind::kNumber;
  std::vector<ChartSeries> series = {};
  bool labels = true;  ///< Names at the ends of the lines.
  double width = 620;
  double height = 380;
};

/// The chart as an SVG element, both axes logarithmic. Colours come from CSS variables of the page
/// (--series-0, --ink, --grid ...), so that it fits light and dark. "" if there is nothing to draw.
std::string RenderChart(const Chart& chart);

/// Places for labels that want to be at `wanted`, in the same order, each at least `gap` from the
/// next and all within [low, high] as far as they fit.
std::vector<double> SpreadLabels(const std::vector<double>& wanted, double gap, double low,
                                 double high);

}  // namespace shoal::bench
