#include "base/units.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(ParseBytesTest, TakesPlainNumbersAndBinaryUnits) {
  EXPECT_EQ(*ParseBytes("0"), 0);
  EXPECT_EQ(*ParseBytes("4096"), 4096);
  EXPECT_EQ(*ParseBytes("8B"), 8);
  EXPECT_EQ(*ParseBytes("64KiB"), 64 * kKiB);
  EXPECT_EQ(*ParseBytes(" 256 MiB "), 256 * kMiB);
  EXPECT_EQ(*ParseBytes("1g"), kGiB);
  EXPECT_EQ(*ParseBytes("1.5KiB"), 1536);
  EXPECT_EQ(*ParseBytes("9223372036854775807"), INT64_MAX);
}

TEST(ParseBytesTest, RefusesWhatIsNotASize) {
  for (const char* text : {"", "KiB", "-1", "1.0001KiB", "9223372036854775808", "8589934592GiB",
                           "12 apples", "nan", "inf", "1e999"}) {
    EXPECT_EQ(ParseBytes(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(FormatBytesTest, KeepsExactMultiplesExact) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(kMiB), "1 MiB");
  EXPECT_EQ(FormatBytes(kGiB + kGiB / 2), "1.50 GiB");
}

}  // namespace
}  // namespace shoal
