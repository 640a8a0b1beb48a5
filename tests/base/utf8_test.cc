#include "base/utf8.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(Utf8PrefixTest, CutsBetweenCharacters) {
  EXPECT_EQ(Utf8Prefix("plain", 3), "pla");
  EXPECT_EQ(Utf8Prefix("plain", 5), "plain");
  EXPECT_EQ(Utf8Prefix("a\u00e9b", 2), "a") << "the middle of two bytes";
  EXPECT_EQ(Utf8Prefix("a\u00e9b", 3), "a\u00e9");
  EXPECT_EQ(Utf8Prefix("\u20ac\u20ac", 5), "\u20ac") << "the middle of three bytes";
  EXPECT_EQ(Utf8Prefix("\u20ac", 2), "") << "not even one character";
  EXPECT_EQ(Utf8Prefix("", 0), "");
}

TEST(Utf8PrefixTest, OtherBytesDoNotRunAway) { EXPECT_EQ(Utf8Prefix("\x80\x80\x80", 2), ""); }

}  // namespace
}  // namespace shoal
