#include "kernels/language/source_error.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"

namespace shoal::kernels::language {
namespace {

constexpr size_t kLineBytesMax = 72;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

struct Line {
  size_t begin = 0;
  size_t end = 0;
  int64_t number = 1;
};

Line LineAt(absl::string_view source, size_t at) {
  Line line;
  for (size_t i = 0; i < at; ++i) {
    if (source[i] != '\n') continue;
    line.begin = i + 1;
    ++line.number;
  }
  line.end = std::min(source.find('\n', line.begin), source.size());
  return line;
}

int64_t CodePoints(absl::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); });
}

// Every code point as one column: what no terminal shows in one is '?'.
std::string Shown(absl::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (IsContinuation(c)) continue;
    shown.push_back(c >= ' ' && c <= '~' ? c : c == '\t' ? ' ' : '?');
  }
  return shown;
}

std::string Picture(absl::string_view source, SourceSpan where, const Line& line) {
  const auto begin = static_cast<size_t>(where.begin);
  const size_t end = std::clamp(static_cast<size_t>(where.end), begin, std::max(begin, line.end));
  size_t from = line.begin;
  if (begin - line.begin > kLineBytesMax / 2 && line.end - line.begin > kLineBytesMax) {
    from = begin - kLineBytesMax / 2;
  }
  const size_t to = std::min(line.end, from + kLineBytesMax);
  const std::string before = Shown(source.substr(from, begin - from));
  const size_t marked = Shown(source.substr(begin, std::min(end, to) - begin)).size();
  return absl::StrCat("\n  ", Shown(source.substr(from, to - from)), "\n  ",
                      std::string(before.size(), ' '), "^",
                      std::string(marked > 1 ? marked - 1 : 0, '~'));
}

std::string Message(absl::string_view source, SourceSpan where, absl::string_view message) {
  const auto begin = std::min(static_cast<size_t>(where.begin), source.size());
  const Line line = LineAt(source, begin);
  return absl::StrCat("program, ", PlaceName(source, where.begin), ": ", message,
                      Picture(source, {static_cast<int32_t>(begin), where.end}, line));
}

}  // namespace

std::string PlaceName(absl::string_view source, int32_t at) {
  const auto begin = std::min(static_cast<size_t>(at), source.size());
  const Line line = LineAt(source, begin);
  return absl::StrCat("line ", line.number, ", column ",
                      CodePoints(source.substr(line.begin, begin - line.begin)) + 1);
}

absl::Status SourceError(absl::string_view source, SourceSpan where, absl::string_view message) {
  return absl::InvalidArgumentError(Message(source, where, message));
}

absl::Status AtSource(absl::string_view source, SourceSpan where, const absl::Status& status) {
  return absl::Status(status.code(), Message(source, where, status.message()));
}

}  // namespace shoal::kernels::language
