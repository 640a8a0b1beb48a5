#include "client/cli/arguments.h"

#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "client/cli/exit_code.h"

namespace shoal::cli {
namespace {

bool IsIdentifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<ArrayRef> ParseArrayRef(const std::string& text) {
  const std::string key = text.starts_with('@') ? text.substr(1) : text;
  if (key.empty()) return UsageError(absl::StrCat("no array's name: '", text, "'"));
  if (key[0] != '#') return ArrayRef::ByName(key);
  uint64_t id = 0;
  if (!absl::SimpleAtoi(key.substr(1), &id) || id == 0) {
    return UsageError(absl::StrCat("no array's id: '", text, "' (example: #12)"));
  }
  return ArrayRef::ById(id);
}

absl::StatusOr<InputArgument> ParseInput(const std::string& text) {
  InputArgument input;
  std::string value = text;
  const size_t equals = text.find('=');
  if (equals != std::string::npos && IsIdentifier(std::string_view(text).substr(0, equals))) {
    input.name = text.substr(0, equals);
    value = text.substr(equals + 1);
  }
  if (value.empty()) return UsageError(absl::StrCat("no file or array in '", text, "'"));
  if (value.starts_with('@')) {
    SHOAL_ASSIGN_OR_RETURN(input.value, ParseArrayRef(value));
  } else {
    input.value = std::move(value);
  }
  return input;
}

absl::StatusOr<Param> ParseParam(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return UsageError(absl::StrCat("not NAME=VALUE: '", text, "'"));
  }
  Param param = {.name = text.substr(0, equals), .value = false};
  const std::string value = text.substr(equals + 1);
  int64_t whole = 0;
  uint64_t natural = 0;
  double real = 0;
  if (value == "true" || value == "false") {
    param.value = value == "true";
  } else if (absl::SimpleAtoi(value, &whole)) {
    param.value = whole;
  } else if (absl::SimpleAtoi(value, &natural)) {
    param.value = natural;
  } else if (absl::SimpleAtod(value, &real)) {
    param.value = real;
  } else {
    return UsageError(absl::StrCat("not a number, true or false: '", text, "'"));
  }
  return param;
}

absl::StatusOr<Distribution> ParseDistribution(const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const absl::Status bad = UsageError(
      absl::StrCat("not a distribution: '", text,
                   "' (block, replicated or single; with workers: single:3, block:0,2)"));
  Distribution distribution;
  if (parts.first == "replicated") {
    distribution.kind = Distribution::Kind::kReplicated;
  } else if (parts.first == "single") {
    distribution.kind = Distribution::Kind::kSingle;
  } else if (parts.first != "block") {
    return bad;
  }
  if (parts.first == text) return distribution;
  const std::vector<std::string> workers = absl::StrSplit(parts.second, ',');
  for (const std::string& worker : workers) {
    int32_t id = 0;
    if (!absl::SimpleAtoi(worker, &id) || id < 0) return bad;
    distribution.workers.push_back(id);
  }
  if (distribution.kind == Distribution::Kind::kSingle && workers.size() > 1) return bad;
  return distribution;
}

}  // namespace shoal::cli
