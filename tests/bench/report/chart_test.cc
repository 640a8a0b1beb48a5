#include "bench/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "bench/report/scale.h"

namespace shoal::bench {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(LogScaleTest, CoversWholePowersAndMapsThemEvenly) {
  const LogScale scale = LogScale::Covering(3, 5000, 10, {100, 500});
  EXPECT_DOUBLE_EQ(scale.low(), 1);
  EXPECT_DOUBLE_EQ(scale.high(), 10000);
  EXPECT_DOUBLE_EQ(scale.Place(1), 100);
  EXPECT_DOUBLE_EQ(scale.Place(10), 200);
  EXPECT_DOUBLE_EQ(scale.Place(100), 300);
  EXPECT_DOUBLE_EQ(scale.Place(10000), 500);
}

TEST(LogScaleTest, ExactPowersAddNoEmptyDecade) {
  const LogScale decades = LogScale::Covering(1e-3, 1e6, 10, {0, 1});
  EXPECT_DOUBLE_EQ(decades.low(), 1e-3);
  EXPECT_DOUBLE_EQ(decades.high(), 1e6);
  const LogScale sizes = LogScale::Covering(8, 268435456, 2, {0, 1});
  EXPECT_DOUBLE_EQ(sizes.low(), 8);
  EXPECT_DOUBLE_EQ(sizes.high(), 268435456);
}

TEST(LogScaleTest, OneValueStillHasAnAxis) {
  const LogScale scale = LogScale::Covering(64, 64, 2, {0, 10});
  EXPECT_DOUBLE_EQ(scale.low(), 64);
  EXPECT_DOUBLE_EQ(scale.high(), 128);
}

TEST(LogScaleTest, MayGrowDownwards) {
  const LogScale scale = LogScale::Covering(1, 100, 10, {300, 100});
  EXPECT_DOUBLE_EQ(scale.Place(1), 300);
  EXPECT_DOUBLE_EQ(scale.Place(10), 200);
  EXPECT_DOUBLE_EQ(scale.Place(100), 100);
}

TEST(LogScaleTest, ThinsTicksOut) {
  EXPECT_THAT(LogScale::Covering(1, 1000, 10, {0, 1}).Ticks(8), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(LogScale::Covering(8, 512, 2, {0, 1}).Ticks(4), ElementsAre(8, 32, 128, 512));
}

TEST(LogScaleTest, MinorTicksOnlyWhereTheyCanBeTold) {
  EXPECT_THAT(LogScale::Covering(1, 10, 10, {0, 1}).MinorTicks(),
              ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(LogScale::Covering(1, 1e6, 10, {0, 1}).MinorTicks(), IsEmpty());
  EXPECT_THAT(LogScale::Covering(8, 64, 2, {0, 1}).MinorTicks(), IsEmpty());
}

TEST(LabelTest, AreInTheUnitThatFits) {
  EXPECT_EQ(BytesLabel(8), "8 B");
  EXPECT_EQ(BytesLabel(4096), "4 KiB");
  EXPECT_EQ(BytesLabel(268435456), "256 MiB");
  EXPECT_EQ(NumberLabel(100), "100");
  EXPECT_EQ(NumberLabel(1e6), "1M");
  EXPECT_EQ(NumberLabel(0.01), "0.01");
  EXPECT_EQ(NumberLabel(1e-5), "1e-5");
  EXPECT_EQ(MicrosecondsLabel(0.1), "100 ns");
  EXPECT_EQ(MicrosecondsLabel(10), "10 µs");
  EXPECT_EQ(MicrosecondsLabel(1e4), "10 ms");
  EXPECT_EQ(MicrosecondsLabel(2e6), "2 s");
}

TEST(SpreadLabelsTest, LeavesThoseAloneThatHaveRoom) {
  EXPECT_THAT(SpreadLabels({10, 50, 90}, 14, 0, 100), ElementsAre(10, 50, 90));
}

TEST(SpreadLabelsTest, MovesThemApartAndKeepsThemWithin) {
  EXPECT_THAT(SpreadLabels({10, 11, 12}, 10, 0, 100), ElementsAre(10, 20, 30));
  EXPECT_THAT(SpreadLabels({95, 96, 97}, 10, 0, 100), ElementsAre(80, 90, 100));
  EXPECT_THAT(SpreadLabels({}, 10, 0, 100), IsEmpty());
}

Chart OneLine(std::vector<Point> points) {
  Chart chart{.title = "Speed <x>", .x_label = "payload", .y_label = "GiB/s"};
  chart.series = {{"Shoal & co", 0, false, true, std::move(points)}};
  return chart;
}

TEST(RenderChartTest, DrawsALineThroughThePlacesOfItsPoints) {
  Chart chart = OneLine({{8, 1}, {64, 10}, {512, 100}});
  chart.width = 500;
  chart.height = 300;
  const std::string svg = RenderChart(chart);
  // Even steps in both logarithms are even steps on the page.
  const LogScale x = LogScale::Covering(8, 512, 2, {80, 390});
  const LogScale y = LogScale::Covering(1, 100, 10, {250, 40});
  EXPECT_THAT(x.Place(64), DoubleNear((80 + 390) / 2.0, 1e-9));
  EXPECT_THAT(y.Place(10), DoubleEq(145));
  EXPECT_THAT(svg, HasSubstr("M80.0,250.0 L235.0,145.0 L390.0,40.0"));
  EXPECT_THAT(svg, HasSubstr(">512 B</text>"));
  EXPECT_THAT(svg, HasSubstr("var(--series-0)"));
}

TEST(RenderChartTest, EscapesNames) {
  const std::string svg = RenderChart(OneLine({{8, 1}, {64, 10}}));
  EXPECT_THAT(svg, HasSubstr("Speed &lt;x&gt;"));
  EXPECT_THAT(svg, HasSubstr("Shoal &amp; co"));
  EXPECT_THAT(svg, Not(HasSubstr("<x>")));
}

TEST(RenderChartTest, LeavesOutWhatALogarithmCannotShow) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string svg = RenderChart(OneLine({{0, 5}, {8, 0}, {8, infinity}, {16, 2}, {32, 4}}));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(RenderChart(OneLine({{0, 1}, {8, -1}})), "");
  EXPECT_EQ(RenderChart(Chart{}), "");
}

}  // namespace
}  // namespace shoal::bench
