#include "kernels/language/parser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/utf8.h"
#include "kernels/language/lexer.h"

namespace shoal::kernels::language {
namespace {

// How tightly operators bind, as in Python; unary ones and "**" bind tighter than all of these.
enum Precedence : int {
  kLowest = 1,
  kOr = 1,
  kAnd,
  kNot,
  kComparison,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct
};

struct Operator {
  absl::string_view text;
  absl::string_view op;
  int precedence;
};

constexpr std::array<Operator, 20> kBinary = {
    {{"or", "logical_or", kOr},     {"and", "logical_and", kAnd},
     {"==", "equal", kComparison},  {"!=", "not_equal", kComparison},
     {"<", "less", kComparison},    {"<=", "less_equal", kComparison},
     {">", "greater", kComparison}, {">=", "greater_equal", kComparison},
     {"|", "bitwise_or", kBitOr},   {"^", "bitwise_xor", kBitXor},
     {"&", "bitwise_and", kBitAnd}, {"<<", "left_shift", kShift},
     {">>", "right_shift", kShift}, {"+", "add", kSum},
     {"-", "subtract", kSum},       {"*", "multiply", kProduct},
     {"/", "divide", kProduct},     {"//", "floor_divide", kProduct},
     {"%", "remainder", kProduct},  {"@", "matmul", kProduct}}};
constexpr std::array<Operator, 3> kUnary = {
    {{"-", "negative", 0}, {"+", "positive", 0}, {"~", "invert", 0}}};

// Words of Python that mean something else than a name.
constexpr std::array<absl::string_view, 16> kReserved = {
    "and", "or",  "not",    "True",  "False",  "None",   "if", "else",
    "for", "def", "lambda", "while", "return", "import", "in", "is"};

bool IsReserved(absl::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

class Parser {
 public:
  Parser(std::vector<Token> tokens, const ParseLimits& limits, Syntax* out)
      : tokens_(std::move(tokens)), limits_(limits), out_(*out) {}

  absl::Status Run() {
    while (true) {
      while (Now().kind == TokenKind::kBreak) ++at_;
      if (Now().kind == TokenKind::kEnd) break;
      if (!out_.statements.empty() && out_.statements.back().target.empty()) {
        return Error(out_.nodes[Index(out_.statements.back().value)].where,
                     "the value goes nowhere; give it a name, or let it be the last statement");
      }
      SHOAL_RETURN_IF_ERROR(ParseStatement());
    }
    return FindOutputs();
  }

 private:
  static size_t Index(NodeIndex node) { return static_cast<size_t>(node); }
  const Token& Now() const { return tokens_[at_]; }
  bool Is(absl::string_view text) const {
    return Now().text == text &&
           (Now().kind == TokenKind::kOperator || Now().kind == TokenKind::kName);
  }

  absl::Status Error(SourceSpan where, absl::string_view message) const {
    return SourceError(out_.source, where, message);
  }

  absl::Status Expected(absl::string_view what) const {
    std::string found = absl::StrCat("'", Utf8Prefix(Now().text, 32), "'");
    if (Now().kind == TokenKind::kEnd) found = "the end of the text";
    if (Now().kind == TokenKind::kBreak) found = "the end of the statement";
    return Error(Now().where, absl::StrCat("expected ", what, ", found ", found));
  }

  absl::Status ParseStatement() {
    Statement statement;
    const bool assigns = Now().kind == TokenKind::kName && tokens_[at_ + 1].text == "=" &&
                         tokens_[at_ + 1].kind == TokenKind::kOperator;
    if (assigns) {
      if (IsReserved(Now().text)) return Error(Now().where, "a word that no value can be named by");
      statement.target = std::string(Now().text);
      statement.target_span = Now().where;
      at_ += 2;
    }
    SHOAL_ASSIGN_OR_RETURN(statement.value, ParseElements(assigns));
    if (Now().kind != TokenKind::kBreak && Now().kind != TokenKind::kEnd) {
      return Expected("an operator or the end of the statement");
    }
    out_.statements.push_back(std::move(statement));
    return absl::OkStatus();
  }

  // `a`, or, where no name is given, `a, b`: a tuple without brackets.
  absl::StatusOr<NodeIndex> ParseElements(bool assigns) {
    const int32_t begin = Now().where.begin;
    SHOAL_ASSIGN_OR_RETURN(const NodeIndex first, ParseExpression(kLowest));
    if (assigns || !Is(",")) return first;
    SyntaxNode tuple = {.kind = SyntaxKind::kTuple,
                        .where = {},
                        .literal = {},
                        .name = {},
                        .arguments = {first},
                        .keywords = {}};
    while (Is(",")) {
      ++at_;
      if (Now().kind == TokenKind::kBreak || Now().kind == TokenKind::kEnd) break;
      SHOAL_ASSIGN_OR_RETURN(const NodeIndex next, ParseExpression(kLowest));
      tuple.arguments.push_back(next);
    }
    tuple.where = {begin, tokens_[at_ - 1].where.end};
    return Add(std::move(tuple));
  }

  /// Counts one more level of recursion for as long as it lives.
  class Deeper {
   public:
    explicit Deeper(int32_t* depth) : depth_(depth) { ++*depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --*depth_; }

   private:
    int32_t* const depth_;
  };

  absl::Status CheckDepth() const {
    if (depth_ <= limits_.depth) return absl::OkStatus();
    return AtSource(out_.source, Now().where,
                    absl::ResourceExhaustedError(
                        absl::StrCat("expressions nested more than ", limits_.depth, " deep")));
  }

  const Operator* BinaryOperator() const {
    if (Now().kind != TokenKind::kOperator && Now().kind != TokenKind::kName) return nullptr;
    const auto* found = std::find_if(kBinary.begin(), kBinary.end(),
                                     [&](const Operator& op) { return op.text == Now().text; });
    return found == kBinary.end() ? nullptr : found;
  }

  // Operators that bind at least as tightly as `least`, from left to right.
  absl::StatusOr<NodeIndex> ParseExpression(int least) {
    const Deeper deeper(&depth_);
    SHOAL_RETURN_IF_ERROR(CheckDepth());
    const bool negated = Is("not") && least <= kNot;
    SHOAL_ASSIGN_OR_RETURN(NodeIndex left, negated ? ParseNot() : ParseUnary());
    while (true) {
      const Operator* op = BinaryOperator();
      if (op == nullptr || op->precedence < least) return left;
      if (op->precedence == kComparison) {
        SHOAL_ASSIGN_OR_RETURN(left, ParseComparisons(left));
        continue;
      }
      ++at_;
      SHOAL_ASSIGN_OR_RETURN(const NodeIndex right, ParseExpression(op->precedence + 1));
      SHOAL_ASSIGN_OR_RETURN(left, AddOperator(op->op, {left, right}));
    }
  }

  // `a < b < c` is `a < b and b < c`; b is the same node twice.
  absl::StatusOr<NodeIndex> ParseComparisons(NodeIndex left) {
    std::optional<NodeIndex> all;
    for (const Operator* op = BinaryOperator(); op != nullptr && op->precedence == kComparison;
         op = BinaryOperator()) {
      ++at_;
      SHOAL_ASSIGN_OR_RETURN(const NodeIndex right, ParseExpression(kComparison + 1));
      SHOAL_ASSIGN_OR_RETURN(NodeIndex pair, AddOperator(op->op, {left, right}));
      if (all.has_value()) {
        SHOAL_ASSIGN_OR_RETURN(pair, AddOperator("logical_and", {*all, pair}));
      }
      all = pair;
      left = right;
    }
    return *all;
  }

  absl::StatusOr<NodeIndex> ParseNot() {
    const int32_t begin = Now().where.begin;
    ++at_;
    SHOAL_ASSIGN_OR_RETURN(const NodeIndex operand, ParseExpression(kNot));
    return AddOperator("logical_not", {operand}, begin);
  }

  absl::StatusOr<NodeIndex> ParseUnary() {
    const auto* op = std::find_if(kUnary.begin(), kUnary.end(),
                                  [&](const Operator& unary) { return Is(unary.text); });
    if (op == kUnary.end()) return ParsePower();
    const Deeper deeper(&depth_);
    SHOAL_RETURN_IF_ERROR(CheckDepth());
    const int32_t begin = Now().where.begin;
    ++at_;
    SHOAL_ASSIGN_OR_RETURN(const NodeIndex operand, ParseUnary());
    return AddOperator(op->op, {operand}, begin);
  }

  // To the right of "**" stands what a sign may precede: 2**-1, and 2**3**2 is 2**(3**2).
  absl::StatusOr<NodeIndex> ParsePower() {
    SHOAL_ASSIGN_OR_RETURN(const NodeIndex base, ParsePostfix());
    if (!Is("**")) return base;
    const Deeper deeper(&depth_);
    SHOAL_RETURN_IF_ERROR(CheckDepth());
    ++at_;
    SHOAL_ASSIGN_OR_RETURN(const NodeIndex exponent, ParseUnary());
    return AddOperator("power", {base, exponent});
  }

  absl::StatusOr<NodeIndex> ParsePostfix() {
    const bool named = Now().kind == TokenKind::kName && !IsReserved(Now().text);
    SHOAL_ASSIGN_OR_RETURN(NodeIndex node, ParsePrimary());
    if (named && Is("(")) {
      SHOAL_ASSIGN_OR_RETURN(node, ParseCall(node));
    }
    if (Is("(")) return Error(Now().where, "only a function's name can be called");
    if (Is("[")) return Error(Now().where, "indexing is not part of the language");
    if (Is(".")) return Error(Now().where, "attributes are not part of the language");
    return node;
  }

  absl::StatusOr<NodeIndex> ParseCall(NodeIndex function) {
    SyntaxNode call = {.kind = SyntaxKind::kCall,
                       .where = {},
                       .literal = {},
                       .name = out_.nodes[Index(function)].name,
                       .arguments = {},
                       .keywords = {}};
    call.where.begin = out_.nodes[Index(function)].where.begin;
    out_.nodes.pop_back();  // The name was read last, and is the call's now.
    const Token& bracket = Now();
    ++at_;
    while (!Is(")")) {
      SHOAL_RETURN_IF_ERROR(ParseArgument(&call));
      if (Is(")")) break;
      if (!Is(",")) return ExpectedBracket(bracket, "',' or ')'");
      ++at_;
    }
    call.where.end = Now().where.end;
    ++at_;
    return Add(std::move(call));
  }

  absl::Status ParseArgument(SyntaxNode* call) {
    const bool named = Now().kind == TokenKind::kName && tokens_[at_ + 1].text == "=" &&
                       tokens_[at_ + 1].kind == TokenKind::kOperator;
    if (!named) {
      if (!call->keywords.empty()) return Expected("a named argument; those without come first");
      SHOAL_ASSIGN_OR_RETURN(const NodeIndex value, ParseExpression(kLowest));
      call->arguments.push_back(value);
      return absl::OkStatus();
    }
    Keyword keyword = {std::string(Now().text), Now().where, 0};
    for (const Keyword& other : call->keywords) {
      if (other.name == keyword.name) return Error(Now().where, "an argument given twice");
    }
    at_ += 2;
    SHOAL_ASSIGN_OR_RETURN(keyword.value, ParseExpression(kLowest));
    call->keywords.push_back(std::move(keyword));
    return absl::OkStatus();
  }

  absl::Status ExpectedBracket(const Token& opened, absl::string_view what) const {
    return Expected(absl::StrCat(what, " for the '", opened.text, "' at ",
                                 PlaceName(out_.source, opened.where.begin)));
  }

  absl::StatusOr<NodeIndex> ParsePrimary() {
    const Token& token = Now();
    if (token.kind == TokenKind::kNumber) {
      ++at_;
      return Add({.kind = SyntaxKind::kLiteral,
                  .where = token.where,
                  .literal = token.number,
                  .name = {},
                  .arguments = {},
                  .keywords = {}});
    }
    if (Is("(") || Is("[")) return ParseBrackets();
    if (token.kind != TokenKind::kName) return Expected("an expression");
    if (token.text == "True" || token.text == "False") {
      ++at_;
      return Add({.kind = SyntaxKind::kLiteral,
                  .where = token.where,
                  .literal = token.text == "True",
                  .name = {},
                  .arguments = {},
                  .keywords = {}});
    }
    if (IsReserved(token.text)) return Expected("an expression");
    ++at_;
    return Add({.kind = SyntaxKind::kName,
                .where = token.where,
                .literal = {},
                .name = std::string(token.text),
                .arguments = {},
                .keywords = {}});
  }

  // `(a)` is a; `(a,)`, `(a, b)`, `()` and all of `[...]` are tuples.
  absl::StatusOr<NodeIndex> ParseBrackets() {
    const Token& bracket = Now();
    const absl::string_view close = bracket.text == "(" ? ")" : "]";
    SyntaxNode tuple = {.kind = SyntaxKind::kTuple,
                        .where = bracket.where,
                        .literal = {},
                        .name = {},
                        .arguments = {},
                        .keywords = {}};
    bool is_tuple = close == "]";
    ++at_;
    while (!Is(close)) {
      SHOAL_ASSIGN_OR_RETURN(const NodeIndex element, ParseExpression(kLowest));
      tuple.arguments.push_back(element);
      if (Is(close)) break;
      if (!Is(",")) return ExpectedBracket(bracket, absl::StrCat("'", close, "'"));
      is_tuple = true;
      ++at_;
    }
    tuple.where.end = Now().where.end;
    ++at_;
    if (!is_tuple && tuple.arguments.size() == 1) return tuple.arguments[0];
    return Add(std::move(tuple));
  }

  absl::StatusOr<NodeIndex> AddOperator(absl::string_view op, std::vector<NodeIndex> operands,
                                        int32_t begin = -1) {
    SyntaxNode node = {.kind = SyntaxKind::kCall,
                       .where = {},
                       .literal = {},
                       .name = std::string(op),
                       .arguments = std::move(operands),
                       .keywords = {}};
    node.where = {begin >= 0 ? begin : out_.nodes[Index(node.arguments.front())].where.begin,
                  tokens_[at_ - 1].where.end};
    return Add(std::move(node));
  }

  absl::StatusOr<NodeIndex> Add(SyntaxNode node) {
    if (out_.nodes.size() >= Index(limits_.nodes)) {
      return AtSource(out_.source, node.where,
                      absl::ResourceExhaustedError(absl::StrCat("more than ", limits_.nodes,
                                                                " names, numbers and operators")));
    }
    out_.nodes.push_back(std::move(node));
    return static_cast<NodeIndex>(out_.nodes.size() - 1);
  }

  absl::Status FindOutputs() {
    if (out_.statements.empty()) return Error({0, 0}, "a program without a statement");
    const Statement& last = out_.statements.back();
    if (last.target.empty()) {
      const SyntaxNode& value = out_.nodes[Index(last.value)];
      if (value.kind != SyntaxKind::kTuple) {
        out_.outputs.push_back({"", last.value});
        return absl::OkStatus();
      }
      for (const NodeIndex element : value.arguments) out_.outputs.push_back({"", element});
      if (!out_.outputs.empty()) return absl::OkStatus();
      return Error(value.where, "a program without an output");
    }
    for (const Statement& statement : out_.statements) {
      const bool known =
          std::any_of(out_.outputs.begin(), out_.outputs.end(),
                      [&](const SyntaxOutput& output) { return output.name == statement.target; });
      if (!known && statement.target[0] != '_') out_.outputs.push_back({statement.target, -1});
    }
    if (!out_.outputs.empty()) return absl::OkStatus();
    return Error(last.target_span,
                 "a program without an output: names that begin with '_' are none");
  }

  const std::vector<Token> tokens_;
  const ParseLimits limits_;
  Syntax& out_;
  size_t at_ = 0;
  int32_t depth_ = 0;
};

}  // namespace

absl::StatusOr<Syntax> Parse(absl::string_view source, const ParseLimits& limits) {
  if (source.size() > static_cast<size_t>(limits.source_bytes)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a program of ", source.size(), " bytes; at most ", limits.source_bytes, " are possible"));
  }
  Syntax syntax;
  syntax.source = std::string(source);
  SHOAL_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(syntax.source, limits.depth));
  SHOAL_RETURN_IF_ERROR(Parser(std::move(tokens), limits, &syntax).Run());
  return syntax;
}

}  // namespace shoal::kernels::language
