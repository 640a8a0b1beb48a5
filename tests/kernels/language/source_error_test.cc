#include "kernels/language/source_error.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace shoal::kernels::language {
namespace {

TEST(SourceErrorTest, PointsAtTheSpanOfItsLine) {
  EXPECT_EQ(SourceError("a = 1\nb = foo(a)\nc", {10, 16}, "no").message(),
            "program, line 2, column 5: no\n  b = foo(a)\n      ^~~~~~");
  EXPECT_EQ(SourceError("a\nb", {0, 3}, "over two lines").message(),
            "program, line 1, column 1: over two lines\n  a\n  ^");
  EXPECT_EQ(SourceError("ab", {2, 2}, "at the end").message(),
            "program, line 1, column 3: at the end\n  ab\n    ^");
}

TEST(SourceErrorTest, ColumnsAreCharactersAndTabsAreOne) {
  EXPECT_EQ(SourceError("\xc3\xa4\t\x01 x", {5, 6}, "here").message(),
            "program, line 1, column 5: here\n  ? ? x\n      ^");
}

TEST(SourceErrorTest, LongLinesAreCutAroundThePlace) {
  const std::string line = std::string(500, 'a') + "+" + std::string(500, 'b');
  const std::string message(SourceError(line, {500, 501}, "here").message());
  EXPECT_LT(message.size(), 250U);
  const size_t picture = message.find("\n  ") + 3;
  const size_t caret = message.rfind('^') - (message.rfind('\n') + 3);
  EXPECT_EQ(message[picture + caret], '+');
}

TEST(AtSourceTest, KeepsTheCode) {
  const absl::Status status = AtSource("x", {0, 1}, absl::UnimplementedError("not yet"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "program, line 1, column 1: not yet\n  x\n  ^");
}

TEST(SourceErrorTest, IsPrintableWhateverTheText) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string source;
    for (uint32_t j = 0; j < random() % 200; ++j) source.push_back(static_cast<char>(random()));
    const auto begin = static_cast<int32_t>(random() % (source.size() + 1));
    const auto end = begin + static_cast<int32_t>(random() % 300);
    const std::string message(SourceError(source, {begin, end}, "m").message());
    for (const char c : message) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
  }
}

}  // namespace
}  // namespace shoal::kernels::language
