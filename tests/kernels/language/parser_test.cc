#include "kernels/language/parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/language/tree_text.h"

namespace shoal::kernels::language {
namespace {

std::string TreeOf(const std::string& source) {
  const absl::StatusOr<Syntax> syntax = Parse(source);
  if (!syntax.ok()) return std::string(syntax.status().message());
  return TreeText(*syntax, syntax->statements.back().value);
}

std::vector<std::string> OutputsOf(const std::string& source) {
  std::vector<std::string> outputs;
  const absl::StatusOr<Syntax> syntax = Parse(source);
  if (!syntax.ok()) return {std::string(syntax.status().message())};
  for (const SyntaxOutput& output : syntax->outputs) {
    outputs.push_back(output.node >= 0 ? TreeText(*syntax, output.node) : output.name);
  }
  return outputs;
}

// As Python's own parser brackets them (ast.dump).
TEST(ParserTest, OperatorsBindAsInPython) {
  const std::pair<const char*, const char*> cases[] = {
      {"a + b * c", "add(a, multiply(b, c))"},
      {"(a + b) * c", "multiply(add(a, b), c)"},
      {"a - b - c", "subtract(subtract(a, b), c)"},
      {"a / b // c % d", "remainder(floor_divide(divide(a, b), c), d)"},
      {"-a ** 2", "negative(power(a, 2))"},
      {"2 ** -1", "power(2, negative(1))"},
      {"2 ** 3 ** 2", "power(2, power(3, 2))"},
      {"-a * b", "multiply(negative(a), b)"},
      {"~a & b", "bitwise_and(invert(a), b)"},
      {"a | b ^ c & d", "bitwise_or(a, bitwise_xor(b, bitwise_and(c, d)))"},
      {"a << b + c", "left_shift(a, add(b, c))"},
      {"a & b == c", "equal(bitwise_and(a, b), c)"},
      {"a < b | c", "less(a, bitwise_or(b, c))"},
      {"not a == b", "logical_not(equal(a, b))"},
      {"not a and b", "logical_and(logical_not(a), b)"},
      {"not not a", "logical_not(logical_not(a))"},
      {"a or b and c", "logical_or(a, logical_and(b, c))"},
      {"a or b or c", "logical_or(logical_or(a, b), c)"},
      {"a < b < c", "logical_and(less(a, b), less(b, c))"},
      {"a < b == c > d", "logical_and(logical_and(less(a, b), equal(b, c)), greater(c, d))"},
      {"a @ b + c", "add(matmul(a, b), c)"},
      {"+-~a", "positive(negative(invert(a)))"},
      {"- - a", "negative(negative(a))"},
      {"a*-b", "multiply(a, negative(b))"},
      {"f(a)(b)",
       "program, line 1, column 5: only a function's name can be called\n  f(a)(b)\n"
       "      ^"}};
  for (const auto& [source, tree] : cases) EXPECT_EQ(TreeOf(source), tree) << source;
}

TEST(ParserTest, CallsTuplesAndBrackets) {
  EXPECT_EQ(TreeOf("f()"), "f()");
  EXPECT_EQ(TreeOf("f(a, b,)"), "f(a, b)");
  EXPECT_EQ(TreeOf("f(a, axis=(0, -1), keepdims=True)"),
            "f(a, axis=(0, negative(1)), keepdims=True)");
  EXPECT_EQ(TreeOf("(a)"), "a");
  EXPECT_EQ(TreeOf("f((a,))"), "f((a))");
  EXPECT_EQ(TreeOf("f([a])"), "f((a))");
  EXPECT_EQ(TreeOf("f(())"), "f(())");
  EXPECT_EQ(TreeOf("f(\n a,  # the first\n b)"), "f(a, b)");
}

TEST(ParserTest, OutputsAreTheLastValueOrTheNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(OutputsOf("a + b"), Names{"add(a, b)"});
  EXPECT_EQ(OutputsOf("t = a; t * t"), Names{"multiply(t, t)"});
  EXPECT_EQ(OutputsOf("a, b + 1"), (Names{"a", "add(b, 1)"}));
  EXPECT_EQ(OutputsOf("(a, b)"), (Names{"a", "b"}));
  EXPECT_EQ(OutputsOf("r = a\n# nothing\n\ns = b;"), (Names{"r", "s"}));
  EXPECT_EQ(OutputsOf("r = a; _t = b; r = r + _t"), Names{"r"});
}

TEST(ParserTest, ErrorsPointAtTheirPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"sqrt(x*x",
       "program, line 1, column 9: expected ',' or ')' for the '(' at line 1, column 5, found the "
       "end of the text\n  sqrt(x*x\n          ^"},
      {"a +",
       "program, line 1, column 4: expected an expression, found the end of the text\n  a "
       "+\n     ^"},
      {"a = b\nc = )",
       "program, line 2, column 5: expected an expression, found ')'\n  c = )\n      ^"},
      {"a b",
       "program, line 1, column 3: expected an operator or the end of the statement, found "
       "'b'\n  a b\n    ^"},
      {"a + b; c",
       "program, line 1, column 1: the value goes nowhere; give it a name, or let it be the last "
       "statement\n  a + b; c\n  ^~~~~"},
      {"x[0]", "program, line 1, column 2: indexing is not part of the language\n  x[0]\n   ^"},
      {"x.T", "program, line 1, column 2: attributes are not part of the language\n  x.T\n   ^"},
      {"if = 3", "program, line 1, column 1: a word that no value can be named by\n  if = 3\n  ^~"},
      {"a + in",
       "program, line 1, column 5: expected an expression, found 'in'\n  a + in\n      "
       "^~"},
      {"f(a=1, a=2)",
       "program, line 1, column 8: an argument given twice\n  f(a=1, a=2)\n         ^"},
      {"f(a=1, b)",
       "program, line 1, column 8: expected a named argument; those without come "
       "first, found 'b'\n  f(a=1, b)\n         ^"},
      {"", "program, line 1, column 1: a program without a statement\n  \n  ^"},
      {"_a = b",
       "program, line 1, column 1: a program without an output: names that begin with "
       "'_' are none\n  _a = b\n  ^~"},
      {"a == b = c",
       "program, line 1, column 8: expected an operator or the end of the statement, "
       "found '='\n  a == b = c\n         ^"}};
  for (const auto& [source, message] : cases) EXPECT_EQ(TreeOf(source), message) << source;
}

absl::StatusCode CodeOf(const std::string& source, const ParseLimits& limits = {}) {
  return Parse(source, limits).status().code();
}

std::string Repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(ParserTest, LimitsHoldAtTheirEdge) {
  ParseLimits limits;
  limits.depth = 20;
  for (const char* step : {"(", "-", "not ", "f(", "2**", "a*(", "[", "a<("}) {
    const int deep = 1000;
    const std::string closing = std::string(step).back() == '(' ? ")" : "";
    const std::string source = Repeated(step, deep) + "a" + Repeated(closing, deep);
    EXPECT_NE(CodeOf(source, limits), absl::StatusCode::kOk) << step;
    EXPECT_NE(CodeOf(Repeated(step, 100'000 / 8)), absl::StatusCode::kOk) << step;
  }
  EXPECT_EQ(CodeOf(Repeated("(", 19) + "a" + Repeated(")", 19), limits), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf(Repeated("(", 20) + "a" + Repeated(")", 20), limits),
            absl::StatusCode::kResourceExhausted);
  // Long is not deep.
  EXPECT_EQ(CodeOf("a" + Repeated("+a", 1000), limits), absl::StatusCode::kOk);
  limits.nodes = 5;
  EXPECT_EQ(CodeOf("a+b+c", limits), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf("a+b+c+d", limits), absl::StatusCode::kResourceExhausted);
  limits.source_bytes = 5;
  EXPECT_EQ(CodeOf("a+b+c", limits), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf("a+b+c ", limits), absl::StatusCode::kResourceExhausted);
}

TEST(ParserTest, ChildrenComeBeforeTheirParentsWhateverTheText) {
  const char kPieces[][8] = {"a",  "b2", "1",  "2.5", "(",  ")", "[",    "]",     ",", "+",  "-",
                             "**", "*",  "//", "<",   "==", "=", "not ", " and ", ";", "\n", "f("};
  std::mt19937 random(1);
  int parsed = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string source;
    for (uint32_t j = 0; j <= random() % 12; ++j) source += kPieces[random() % std::size(kPieces)];
    const absl::StatusOr<Syntax> syntax = Parse(source);
    if (!syntax.ok()) {
      ASSERT_EQ(syntax.status().message().find("program, line "), 0U) << source;
      continue;
    }
    ++parsed;
    for (size_t node = 0; node < syntax->nodes.size(); ++node) {
      for (const NodeIndex child : syntax->nodes[node].arguments) {
        ASSERT_LT(static_cast<size_t>(child), node) << source;
      }
    }
    ASSERT_FALSE(syntax->outputs.empty()) << source;
  }
  EXPECT_GT(parsed, 1000);
}

}  // namespace
}  // namespace shoal::kernels::language
