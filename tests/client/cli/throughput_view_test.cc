#include "client/cli/throughput_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace shoal::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ThroughputRow Row(const std::string& op, int64_t bytes_min, double rate) {
  ThroughputRow row;
  row.op = op;
  row.route = Route::kWorker;
  row.plane = "stream";
  row.bytes_min = bytes_min;
  row.call_count = 10;
  row.bytes_per_second = rate;
  row.p50 = std::chrono::microseconds(20);
  return row;
}

TEST(SparklineTest, HeightIsLogarithmicAndGapsStayBlank) {
  const std::vector<double> powers = {1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7};
  EXPECT_EQ(Sparkline(powers, {1, 1e7}, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline(powers, {1, 1e7}, false), "_.:-=+*#");
  EXPECT_EQ(Sparkline({1, 0, 1e7}, {1, 1e7}, false), "_ #");
  EXPECT_EQ(Sparkline({5, -1, std::numeric_limits<double>::quiet_NaN()}, {5, 5}, false), "#  ");
}

TEST(ThroughputTextTest, TableAndOneLineASeriesOverTheSameColumns) {
  ThroughputReport report;
  report.rows = {Row("echo", 0, 0), Row("echo", 1024, 1 << 20), Row("echo", 4096, 1 << 30),
                 Row("sum", 2048, 1 << 25)};
  const std::string text = ThroughputText(report, false);
  EXPECT_THAT(text, HasSubstr("OP    ROUTE   PLANE   PAYLOAD  CALLS  FAILED  THROUGHPUT"));
  EXPECT_THAT(text, HasSubstr("echo  worker  stream    1 KiB     10       0     1 MiB/s  20.0 us"));
  EXPECT_THAT(text, HasSubstr("1 KiB to 4 KiB, a column a power of two; 1 MiB/s to 1 GiB/s"));
  EXPECT_THAT(text, HasSubstr("\n  echo worker stream  |_ #|  best 1 GiB/s\n"));
  EXPECT_THAT(text, HasSubstr("\n  sum worker stream   | - |  best 32 MiB/s\n"));
}

TEST(ThroughputTextTest, EmptyReportsAndOddRows) {
  EXPECT_EQ(ThroughputText({}, true), "No calls yet.\n");
  ThroughputReport report;
  report.rows = {Row("e\x1b[2J", 0, 0)};
  EXPECT_THAT(ThroughputText(report, true), Not(HasSubstr("Throughput against")));
  EXPECT_THAT(ThroughputText(report, true), Not(HasSubstr("\x1b")));
  report.rows = {Row("x", INT64_MAX, 1e300), Row("x", -5, 1)};
  EXPECT_THAT(ThroughputText(report, true), HasSubstr("|█|"));
}

}  // namespace
}  // namespace shoal::cli
