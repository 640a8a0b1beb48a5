#include "client/cli/text.h"

#include <gtest/gtest.h>

namespace shoal::cli {
namespace {

using std::chrono::nanoseconds;

TEST(TextTableTest, ColumnsAlignAndLinesEndWithoutBlanks) {
  TextTable table({{"ID", TextTable::Align::kRight}, {"NAME"}, {"STATE"}});
  table.AddRow({"1", "x", "ok"});
  table.AddRow({"123", "longer", ""});
  EXPECT_EQ(table.ToString(),
            " ID  NAME    STATE\n"
            "  1  x       ok\n"
            "123  longer\n");
}

TEST(TextTableTest, NamesOfOthersCannotMoveTheCursor) {
  TextTable table({{"NAME"}});
  table.AddRow({"a\x1b[2Jb\nc\r"});
  EXPECT_EQ(table.ToString(), "NAME\na?[2Jb?c?\n");
}

TEST(FormatTimeTest, ThreeDigitsAndTheRightUnit) {
  EXPECT_EQ(FormatTime(nanoseconds(0)), "0 ns");
  EXPECT_EQ(FormatTime(nanoseconds(980)), "980 ns");
  EXPECT_EQ(FormatTime(nanoseconds(1000)), "1.00 us");
  EXPECT_EQ(FormatTime(nanoseconds(1250)), "1.25 us");
  EXPECT_EQ(FormatTime(nanoseconds(99949)), "99.9 us");
  EXPECT_EQ(FormatTime(nanoseconds(99950)), "100 us");
  EXPECT_EQ(FormatTime(nanoseconds(999'600)), "1.00 ms");
  EXPECT_EQ(FormatTime(nanoseconds(12'500'000)), "12.5 ms");
  EXPECT_EQ(FormatTime(nanoseconds(3'600'000'000'000)), "3600 s");
}

TEST(FormatTest, ShapesDistributionsRatesAndRoutes) {
  EXPECT_EQ(FormatShape({}), "()");
  EXPECT_EQ(FormatShape({3}), "(3,)");
  EXPECT_EQ(FormatShape({2, 0}), "(2, 0)");
  EXPECT_EQ(FormatDistribution({Distribution::Kind::kBlock, {}}), "block");
  EXPECT_EQ(FormatDistribution({Distribution::Kind::kSingle, {3}}), "single:3");
  EXPECT_EQ(FormatDistribution({Distribution::Kind::kReplicated, {0, 1}}), "replicated:0,1");
  EXPECT_EQ(FormatRate(1.5 * 1024 * 1024), "1.50 MiB/s");
  EXPECT_EQ(FormatRate(0), "0 B/s");
  EXPECT_EQ(FormatRate(1e300), FormatRate(9e18));
  EXPECT_EQ(FormatRoute(Route::kDevice), "device");
  EXPECT_EQ(FormatRoute(Route::kDefault), "");
}

}  // namespace
}  // namespace shoal::cli
