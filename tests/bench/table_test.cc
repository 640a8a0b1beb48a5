#include "bench/table.h"

#include <gtest/gtest.h>

namespace shoal::bench {
namespace {

TEST(TableTest, StandsWordsLeftAndNumbersRight) {
  const Table table({{"what", 6, true, ""}, {"ops/s", 7, false, ""}});
  EXPECT_EQ(table.Heading(),
            "what      ops/s\n"
            "------  -------\n");
  EXPECT_EQ(table.Line({"shoal", "12.3"}), "shoal      12.3\n");
}

TEST(TableTest, NamesGroupsOverTheirColumns) {
  const Table table({{"n", 2, false, ""}, {"a", 5, false, "us"}, {"b", 5, false, "us"}});
  EXPECT_EQ(table.Heading(),
            "    ---- us ----\n"
            " n      a      b\n"
            "--  -----  -----\n");
}

TEST(TableTest, WidensToItsTitlesAndLetsLongCellsPush) {
  const Table table({{"a long title", 2, false, ""}, {"b", 3, false, ""}});
  EXPECT_EQ(table.Line({"1", "2"}), "           1    2\n");
  EXPECT_EQ(table.Line({"1234567890123", "2"}), "1234567890123    2\n");
}

TEST(TableTest, CountsCharactersNotBytes) {
  const Table table({{"µs", 4, false, ""}});
  EXPECT_EQ(table.Line({"µ"}), "   µ\n");
}

TEST(TableTest, QuotesCsvWhereItMust) {
  const Table table({{"what", 4, true, ""}, {"memcpy", 4, false, "ratio"}});
  EXPECT_EQ(table.CsvHeading(), "what,ratio memcpy\n");
  EXPECT_EQ(table.CsvLine({"a,\"b\"", "1"}), "\"a,\"\"b\"\"\",1\n");
}

TEST(TableDeathTest, WantsACellAColumn) {
  const Table table({{"a", 1, false, ""}});
  EXPECT_DEATH(table.Line({"1", "2"}), "check failed");
}

TEST(SignificantTest, KeepsThreeDigits) {
  EXPECT_EQ(Significant(0.0), "0");
  EXPECT_EQ(Significant(0.012345), "0.0123");
  EXPECT_EQ(Significant(1.0), "1.00");
  EXPECT_EQ(Significant(1.2349), "1.23");
  EXPECT_EQ(Significant(9.996), "10.0");
  EXPECT_EQ(Significant(99.96), "100");
  EXPECT_EQ(Significant(123456.7), "123457");
  EXPECT_EQ(Significant(-12.34), "-12.3");
  EXPECT_EQ(Significant(0.0000561), "5.6e-05");
  EXPECT_EQ(Significant(std::optional<double>()), "-");
}

TEST(GroupedTest, PutsACommaEveryThreeDigits) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-123456), "-123,456");
}

}  // namespace
}  // namespace shoal::bench
