#include "kernels/language/lexer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace shoal::kernels::language {
namespace {

std::vector<std::string> Texts(const std::string& source) {
  std::vector<std::string> texts;
  const auto tokens = Tokenize(source, 256);
  if (!tokens.ok()) return {std::string(tokens.status().message())};
  for (const Token& token : *tokens) texts.emplace_back(token.text);
  texts.pop_back();  // The end.
  return texts;
}

Literal NumberOf(const std::string& source) {
  const auto tokens = Tokenize(source, 256);
  EXPECT_TRUE(tokens.ok() && tokens->size() == 2) << source;
  return tokens.ok() ? (*tokens)[0].number : Literal();
}

std::string MessageOf(const std::string& source) {
  const auto tokens = Tokenize(source, 256);
  if (tokens.ok()) return "";
  const std::string message(tokens.status().message());
  return message.substr(0, message.find('\n'));
}

using Strings = std::vector<std::string>;

TEST(LexerTest, TheLongestOperatorIsMeant) {
  EXPECT_EQ(Texts("a**b//c<<=d"), (Strings{"a", "**", "b", "//", "c", "<<", "=", "d"}));
  EXPECT_EQ(Texts("x<=y!=z>=w"), (Strings{"x", "<=", "y", "!=", "z", ">=", "w"}));
}

TEST(LexerTest, LinesEndStatementsOutsideOfBracketsOnly) {
  EXPECT_EQ(Texts("a\nb"), (Strings{"a", "\n", "b"}));
  EXPECT_EQ(Texts("(a\n+ b) # c\n"), (Strings{"(", "a", "+", "b", ")", "\n"}));
  EXPECT_EQ(Texts("a;b"), (Strings{"a", ";", "b"}));
}

TEST(LexerTest, NumbersAreWhatTheyAreInPython) {
  EXPECT_EQ(NumberOf("0"), Literal(uint64_t{0}));
  EXPECT_EQ(NumberOf("1_000"), Literal(uint64_t{1000}));
  EXPECT_EQ(NumberOf("18446744073709551615"), Literal(UINT64_MAX));
  EXPECT_EQ(NumberOf("0xff"), Literal(uint64_t{255}));
  EXPECT_EQ(NumberOf("0o17"), Literal(uint64_t{15}));
  EXPECT_EQ(NumberOf("0b1_01"), Literal(uint64_t{5}));
  EXPECT_EQ(NumberOf("00"), Literal(uint64_t{0}));
  EXPECT_EQ(NumberOf("1."), Literal(1.0));
  EXPECT_EQ(NumberOf(".5"), Literal(0.5));
  EXPECT_EQ(NumberOf("1e-3"), Literal(1e-3));
  EXPECT_EQ(NumberOf("1_0.5E+2"), Literal(1050.0));
  EXPECT_EQ(NumberOf("2j"), Literal(Imaginary{2}));
  EXPECT_EQ(NumberOf("1.5e1J"), Literal(Imaginary{15}));
}

TEST(LexerTest, WhatIsNoNumberSaysWhy) {
  EXPECT_EQ(MessageOf("18446744073709551616"),
            "program, line 1, column 1: a whole number above 2^64 - 1; write it as a float");
  EXPECT_EQ(MessageOf("0x10000000000000000"),
            "program, line 1, column 1: a whole number above 2^64 - 1; write it as a float");
  for (const char* source :
       {"1e", "1e+", "0x", "0b2", "0o8", "0xg", "1__0", "1_", "017", "3x", "0_", "1_.5", "0z1"}) {
    EXPECT_FALSE(MessageOf(source).empty()) << source;
  }
}

TEST(LexerTest, OtherCharactersMeanNothing) {
  EXPECT_EQ(MessageOf("a + 'b'"), "program, line 1, column 5: there are no strings in programs");
  EXPECT_EQ(MessageOf("\xc3\xa4 + $"),
            "program, line 1, column 1: a character that means nothing in programs");
  EXPECT_EQ(MessageOf("a\n  $"),
            "program, line 2, column 3: a character that means nothing in programs");
  EXPECT_EQ(MessageOf("(a;b)"), "program, line 1, column 3: ';' within brackets");
}

TEST(LexerTest, TokensCoverTheTextInOrderWhateverItsBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 50'000; ++i) {
    std::string source;
    for (uint32_t j = 0; j < random() % 20; ++j) {
      source.push_back(static_cast<char>(random() % 3 == 0 ? random() % 256 : 32 + random() % 96));
    }
    const auto tokens = Tokenize(source, 256);
    if (!tokens.ok()) continue;
    int32_t last = 0;
    for (const Token& token : *tokens) {
      ASSERT_GE(token.where.begin, last);
      ASSERT_LE(token.where.end, static_cast<int32_t>(source.size()));
      last = token.where.end;
    }
  }
}

}  // namespace
}  // namespace shoal::kernels::language
