#include "kernels/language/lexer.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"

namespace shoal::kernels::language {
namespace {

// Longest first, so that "**" is not two "*".
constexpr std::array<absl::string_view, 29> kOperators = {
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "(", ")", "[", "]", "{", "}", ",",
    "=",  "+",  "-",  "*",  "/",  "%",  "@",  "&",  "|", "^", "~", "<", ">", "."};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

class Lexer {
 public:
  Lexer(absl::string_view source, int32_t depth_max) : source_(source), depth_max_(depth_max) {}

  absl::StatusOr<std::vector<Token>> Run() {
    while (at_ < source_.size()) SHOAL_RETURN_IF_ERROR(Next());
    Add(TokenKind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  absl::Status Next() {
    const char c = Peek();
    if (c == ' ' || c == '\t' || c == '\r') return Skip();
    if (c == '#') return SkipComment();
    if (c == '\n' && depth_ > 0) return Skip();
    if (c == '\n' || c == ';') return AddBreak();
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return AddNumber();
    if (IsNameStart(c)) return AddName();
    if (c == '"' || c == '\'') return Error(at_, at_ + 1, "there are no strings in programs");
    return AddOperator();
  }

  absl::Status Skip() {
    ++at_;
    return absl::OkStatus();
  }

  absl::Status SkipComment() {
    at_ = std::min(source_.find('\n', at_), source_.size());
    return absl::OkStatus();
  }

  absl::Status AddBreak() {
    if (depth_ > 0) return Error(at_, at_ + 1, "';' within brackets");
    Add(TokenKind::kBreak, at_ + 1);
    return absl::OkStatus();
  }

  absl::Status AddName() {
    size_t end = at_;
    while (end < source_.size() && IsNamePart(source_[end])) ++end;
    Add(TokenKind::kName, end);
    return absl::OkStatus();
  }

  absl::Status AddOperator() {
    const absl::string_view rest = source_.substr(at_);
    for (const absl::string_view op : kOperators) {
      if (rest.substr(0, op.size()) != op) continue;
      if (op == "(" || op == "[") ++depth_;
      if ((op == ")" || op == "]") && depth_ > 0) --depth_;
      if (depth_ > depth_max_) {
        return Error(at_, at_ + 1, absl::StrCat("brackets nested more than ", depth_max_, " deep"));
      }
      Add(TokenKind::kOperator, at_ + op.size());
      return absl::OkStatus();
    }
    size_t end = at_ + 1;  // A whole code point.
    while (end < source_.size() && (static_cast<unsigned char>(source_[end]) & 0xc0U) == 0x80U) {
      ++end;
    }
    return Error(at_, end, "a character that means nothing in programs");
  }

  absl::Status AddNumber() {
    if (Peek() == '0' && absl::ascii_isalpha(static_cast<unsigned char>(Peek(1))) &&
        Peek(1) != 'e' && Peek(1) != 'E' && Peek(1) != 'j' && Peek(1) != 'J') {
      return AddBased();
    }
    size_t end = at_;
    bool is_float = false;
    const auto digits = [&] {
      while (end < source_.size() && (IsDigit(source_[end]) || source_[end] == '_')) ++end;
    };
    digits();
    if (end < source_.size() && source_[end] == '.') {
      is_float = true;
      ++end;
      digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      is_float = true;
      ++end;
      if (end < source_.size() && (source_[end] == '+' || source_[end] == '-')) ++end;
      if (end == source_.size() || !IsDigit(source_[end])) {
        return Error(at_, end, "a number whose exponent is missing");
      }
      digits();
    }
    return AddDecimal(end, is_float);
  }

  absl::Status AddDecimal(size_t end, bool is_float) {
    const absl::string_view text = source_.substr(at_, end - at_);
    SHOAL_RETURN_IF_ERROR(CheckUnderscores(text, end));
    const std::string digits = absl::StrReplaceAll(text, {{"_", ""}});
    const bool imaginary = end < source_.size() && (source_[end] == 'j' || source_[end] == 'J');
    if (is_float || imaginary) {
      double value = 0;
      if (!absl::SimpleAtod(digits, &value)) return Error(at_, end, "not a number");
      return AddLiteral(end + (imaginary ? 1 : 0),
                        imaginary ? Literal(Imaginary{value}) : Literal(value));
    }
    uint64_t value = 0;
    if (digits.size() > 1 && digits[0] == '0' &&
        digits.find_first_not_of('0') != std::string::npos) {
      return Error(at_, end, "a whole number does not begin with 0; octal ones do with 0o");
    }
    if (!absl::SimpleAtoi(digits, &value)) return TooLarge(end);
    return AddLiteral(end, value);
  }

  // 0x1f, 0o17, 0b101.
  absl::Status AddBased() {
    const char letter = absl::ascii_tolower(static_cast<unsigned char>(Peek(1)));
    const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    size_t end = at_ + 2;
    while (end < source_.size() && IsNamePart(source_[end])) ++end;
    const absl::string_view text = source_.substr(at_ + 2, end - at_ - 2);
    if (base == 0) return Error(at_, end, "not a number");
    uint64_t value = 0;
    for (const char c : text) {
      if (c == '_') continue;
      const int digit =
          IsDigit(c) ? c - '0' : absl::ascii_tolower(static_cast<unsigned char>(c)) - 'a' + 10;
      if (digit < 0 || digit >= base) return Error(at_, end, "not a number");
      if (__builtin_mul_overflow(value, static_cast<uint64_t>(base), &value) ||
          __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value)) {
        return TooLarge(end);
      }
    }
    if (text.empty() || text == "_") return Error(at_, end, "not a number");
    SHOAL_RETURN_IF_ERROR(CheckUnderscores(text.substr(text[0] == '_' ? 1 : 0), end));
    return AddLiteral(end, value);
  }

  absl::Status CheckUnderscores(absl::string_view text, size_t end) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '_') continue;
      const bool between = i > 0 && i + 1 < text.size() && IsNamePart(text[i - 1]) &&
                           text[i - 1] != '_' && IsNamePart(text[i + 1]);
      if (!between) return Error(at_, end, "'_' in a number stands between two digits");
    }
    return absl::OkStatus();
  }

  absl::Status AddLiteral(size_t end, Literal value) {
    if (end < source_.size() && IsNamePart(source_[end])) {
      return Error(at_, end + 1, "a number goes over into a name");
    }
    Add(TokenKind::kNumber, end);
    tokens_.back().number = value;
    return absl::OkStatus();
  }

  absl::Status TooLarge(size_t end) {
    return Error(at_, end, "a whole number above 2^64 - 1; write it as a float");
  }

  void Add(TokenKind kind, size_t end) {
    tokens_.push_back({.kind = kind,
                       .where = {static_cast<int32_t>(at_), static_cast<int32_t>(end)},
                       .text = source_.substr(at_, end - at_),
                       .number = {}});
    at_ = end;
  }

  absl::Status Error(size_t begin, size_t end, absl::string_view message) const {
    return SourceError(source_, {static_cast<int32_t>(begin), static_cast<int32_t>(end)}, message);
  }

  const absl::string_view source_;
  const int32_t depth_max_;
  size_t at_ = 0;
  int32_t depth_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

absl::StatusOr<std::vector<Token>> Tokenize(absl::string_view source, int32_t depth_max) {
  return Lexer(source, depth_max).Run();
}

}  // namespace shoal::kernels::language
