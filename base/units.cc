#include "base/units.h"

#include <array>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace shoal {
namespace {

struct Unit {
  const char* name;
  const char* letter;
  int shift;
};
constexpr std::array<Unit, 5> kUnits = {
    {{"TiB", "T", 40}, {"GiB", "G", 30}, {"MiB", "M", 20}, {"KiB", "K", 10}, {"B", "B", 0}}};

bool ConsumeUnit(absl::string_view* text, const Unit& unit) {
  for (const char* suffix : {unit.name, unit.letter}) {
    if (!absl::EndsWithIgnoreCase(*text, suffix)) continue;
    text->remove_suffix(absl::string_view(suffix).size());
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  absl::string_view number = absl::StripAsciiWhitespace(text);
  int shift = 0;
  for (const Unit& unit : kUnits) {
    if (!ConsumeUnit(&number, unit)) continue;
    shift = unit.shift;
    break;
  }
  number = absl::StripTrailingAsciiWhitespace(number);

  // Whole numbers go through integers: a double would round sizes above 2^53.
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("not a size: '", text, "' (examples: 4096, 64KiB, 1.5GiB)"));
  if (int64_t whole = 0; absl::SimpleAtoi(number, &whole)) {
    if (whole < 0 || whole > (INT64_MAX >> shift)) return bad;
    return whole << shift;
  }
  double value = 0;
  if (!absl::SimpleAtod(number, &value) || !std::isfinite(value) || value < 0) return bad;
  const double bytes = std::ldexp(value, shift);
  if (bytes >= 0x1p63 || bytes != std::floor(bytes)) return bad;
  return static_cast<int64_t>(bytes);
}

std::string FormatBytes(int64_t bytes) {
  for (const Unit& unit : kUnits) {
    const int64_t scale = int64_t{1} << unit.shift;
    if (bytes < scale) continue;
    if (bytes % scale == 0) return absl::StrCat(bytes >> unit.shift, " ", unit.name);
    const double value = static_cast<double>(bytes) / static_cast<double>(scale);
    const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return absl::StrFormat("%.*f %s", decimals, value, unit.name);
  }
  return absl::StrCat(bytes, " B");
}

}  // namespace shoal
