#include "bench/report/chart.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "bench/report/html.h"
#include "bench/report/scale.h"

namespace shoal::bench {
namespace {

constexpr double kLeft = 74;
constexpr double kTop = 40;
constexpr double kBottom = 50;
constexpr double kLabelGap = 14;
constexpr double kLabelWidth = 96;
constexpr int kTicksX = 10;
constexpr int kTicksY = 8;

struct Frame {
  double left, top, right, bottom;
};

struct Bounds {
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
};

bool Drawable(const Point& point) { return point.x > 0 && point.y > 0 && std::isfinite(point.y); }

std::optional<Bounds> BoundsOf(const Chart& chart) {
  std::optional<Bounds> bounds;
  for (const ChartSeries& series : chart.series) {
    for (const Point& point : series.points) {
      if (!Drawable(point)) continue;
      if (!bounds.has_value()) bounds = {point.x, point.x, point.y, point.y};
      bounds->x_low = std::min(bounds->x_low, point.x);
      bounds->x_high = std::max(bounds->x_high, point.x);
      bounds->y_low = std::min(bounds->y_low, point.y);
      bounds->y_high = std::max(bounds->y_high, point.y);
    }
  }
  return bounds;
}

std::string LabelOf(AxisKind kind, double value) {
  switch (kind) {
    case AxisKind::kBytes:
      return BytesLabel(value);
    case AxisKind::kNumber:
      return NumberLabel(value);
    case AxisKind::kMicroseconds:
      return MicrosecondsLabel(value);
  }
  SHOAL_UNREACHABLE("kind out of range");
}

int BaseOf(AxisKind kind) { return kind == AxisKind::kBytes ? 2 : 10; }

class Drawing {
 public:
  Drawing(const Chart& chart, const Bounds& bounds)
      : chart_(chart),
        frame_{kLeft, kTop, chart.width - (chart.labels ? kLabelWidth + 8 : 16),
               chart.height - kBottom},
        x_(LogScale::Covering(bounds.x_low, bounds.x_high, BaseOf(chart.x),
                              {frame_.left + 6, frame_.right - 6})),
        y_(LogScale::Covering(bounds.y_low, bounds.y_high, BaseOf(chart.y),
                              {frame_.bottom, frame_.top})) {}

  std::string Render() {
    svg_ = absl::StrFormat(
        "<svg class=\"chart\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\">\n",
        chart_.width, chart_.height, Escape(chart_.title));
    absl::StrAppendFormat(&svg_, "<text class=\"chart-title\" x=\"%g\" y=\"18\">%s</text>\n",
                          frame_.left, Escape(chart_.title));
    DrawGrid();
    DrawAxisLabels();
    // Strong lines last, so that they lie on top.
    for (const bool strong : {false, true}) {
      for (const ChartSeries& series : chart_.series) {
        if (series.strong == strong) DrawSeries(series);
      }
    }
    if (chart_.labels) DrawLabels();
    return absl::StrCat(svg_, "</svg>\n");
  }

 private:
  void DrawGrid() {
    for (const double value : y_.MinorTicks()) HorizontalLine("minor", y_.Place(value));
    for (const double value : y_.Ticks(kTicksY)) {
      const double y = y_.Place(value);
      HorizontalLine("grid", y);
      absl::StrAppendFormat(&svg_,
                            "<text class=\"tick\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s"
                            "</text>\n",
                            frame_.left - 8, y + 4, LabelOf(chart_.y, value));
    }
    const int ticks = std::min(kTicksX, static_cast<int>((frame_.right - frame_.left) / 52));
    for (const double value : x_.Ticks(ticks)) {
      const double x = x_.Place(value);
      absl::StrAppendFormat(
          &svg_, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x,
          frame_.top, frame_.bottom);
      absl::StrAppendFormat(
          &svg_, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x,
          frame_.bottom + 18, LabelOf(chart_.x, value));
    }
    absl::StrAppendFormat(
        &svg_, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
        frame_.left, frame_.right, frame_.bottom, frame_.bottom);
  }

  void HorizontalLine(const char* css_class, double y) {
    absl::StrAppendFormat(&svg_,
                          "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                          css_class, frame_.left, frame_.right, y, y);
  }

  void DrawAxisLabels() {
    absl::StrAppendFormat(
        &svg_,
        "<text class=\"axis-label\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        (frame_.left + frame_.right) / 2, chart_.height - 10, Escape(chart_.x_label));
    const double middle = (frame_.top + frame_.bottom) / 2;
    absl::StrAppendFormat(&svg_,
                          "<text class=\"axis-label\" text-anchor=\"middle\" x=\"14\" y=\"%.1f\" "
                          "transform=\"rotate(-90 14 %.1f)\">%s</text>\n",
                          middle, middle, Escape(chart_.y_label));
  }

  void DrawSeries(const ChartSeries& series) {
    std::string path;
    std::string dots;
    for (const Point& point : series.points) {
      if (!Drawable(point)) continue;
      const double x = x_.Place(point.x);
      const double y = y_.Place(point.y);
      absl::StrAppendFormat(&path, "%s%.1f,%.1f", path.empty() ? "M" : " L", x, y);
      absl::StrAppendFormat(
          &dots, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"><title>%s, %s: %s</title></circle>\n", x,
          y, series.strong ? 3.6 : 2.6, Escape(series.name), LabelOf(chart_.x, point.x),
          LabelOf(chart_.y, point.y));
    }
    if (path.empty()) return;
    absl::StrAppendFormat(&svg_, "<g class=\"series%s%s\" style=\"--c:var(--series-%d)\">",
                          series.strong ? " strong" : "", series.dashed ? " dashed" : "",
                          series.color);
    absl::StrAppend(&svg_, "<path d=\"", path, "\"/>\n", dots, "</g>\n");
  }

  // Names at the right ends of the lines, moved apart where they would cover each other.
  void DrawLabels() {
    struct Label {
      const ChartSeries* series;
      double y;
    };
    std::vector<Label> labels;
    for (const ChartSeries& series : chart_.series) {
      if (series.dashed) continue;  // Its solid line of the same colour has the name.
      for (auto point = series.points.rbegin(); point != series.points.rend(); ++point) {
        if (!Drawable(*point)) continue;
        labels.push_back({&series, y_.Place(point->y)});
        break;
      }
    }
    std::sort(labels.begin(), labels.end(),
              [](const Label& a, const Label& b) { return a.y < b.y; });
    std::vector<double> wanted;
    for (const Label& label : labels) wanted.push_back(label.y);
    const std::vector<double> places = SpreadLabels(wanted, kLabelGap, frame_.top, frame_.bottom);
    for (size_t i = 0; i < labels.size(); ++i) {
      absl::StrAppendFormat(
          &svg_,
          "<text class=\"line-label%s\" style=\"--c:var(--series-%d)\" x=\"%.1f\" y=\"%.1f\">"
          "%s</text>\n",
          labels[i].series->strong ? " strong" : "", labels[i].series->color, frame_.right + 6,
          places[i] + 4, Escape(labels[i].series->name));
    }
  }

  const Chart& chart_;
  const Frame frame_;
  const LogScale x_;
  const LogScale y_;
  std::string svg_;
};

}  // namespace

std::vector<double> SpreadLabels(const std::vector<double>& wanted, double gap, double low,
                                 double high) {
  std::vector<double> places = wanted;
  for (size_t i = 0; i < places.size(); ++i) {
    const double least = i == 0 ? low : places[i - 1] + gap;
    places[i] = std::max(places[i], least);
  }
  // What ran over the end is pushed back, and pushes those before it.
  double most = high;
  for (size_t i = places.size(); i-- > 0;) {
    places[i] = std::min(places[i], most);
    most = places[i] - gap;
  }
  return places;
}

std::string RenderChart(const Chart& chart) {
  const std::optional<Bounds> bounds = BoundsOf(chart);
  return bounds.has_value() ? Drawing(chart, *bounds).Render() : "";
}

}  // namespace shoal::bench
