#include "bench/report/scale.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/units.h"

namespace shoal::bench {
namespace {

// log(x) / log(base) is a hair off at exact powers, which would add an empty decade.
constexpr double kSlack = 1e-9;
constexpr int kMinorDecadesMax = 4;

double PowersOf(double value, int base) { return std::log(value) / std::log(base); }

// Up to three digits, without zeros at the end: units keep values below 1000.
std::string Plain(double value) { return absl::StrFormat("%.3g", value); }

}  // namespace

LogScale LogScale::Covering(double low, double high, int base, Pixels pixels) {
  SHOAL_CHECK(low > 0 && high >= low && base >= 2);
  const double first = std::floor(PowersOf(low, base) + kSlack);
  const double last = std::max(std::ceil(PowersOf(high, base) - kSlack), first + 1);
  return {std::pow(base, first), std::pow(base, last), base, pixels};
}

double LogScale::Place(double value) const {
  const double share = std::log(value / low_) / std::log(high_ / low_);
  return pixels_.begin + share * (pixels_.end - pixels_.begin);
}

std::vector<double> LogScale::Ticks(int count_max) const {
  const int first = static_cast<int>(std::lround(PowersOf(low_, base_)));
  const int last = static_cast<int>(std::lround(PowersOf(high_, base_)));
  int step = 1;
  while ((last - first) / step + 1 > count_max) ++step;
  std::vector<double> ticks;
  for (int power = first; power <= last; power += step) ticks.push_back(std::pow(base_, power));
  return ticks;
}

std::vector<double> LogScale::MinorTicks() const {
  std::vector<double> ticks;
  const double decades = PowersOf(high_ / low_, 10);
  if (base_ != 10 || decades > kMinorDecadesMax + kSlack) return ticks;
  for (double power = low_; power < high_ * (1 - kSlack); power *= 10) {
    for (int digit = 2; digit <= 9; ++digit) ticks.push_back(power * digit);
  }
  return ticks;
}

std::string BytesLabel(double bytes) {
  return FormatBytes(static_cast<int64_t>(std::llround(bytes)));
}

std::string NumberLabel(double value) {
  if (value >= 1e9) return absl::StrCat(Plain(value / 1e9), "G");
  if (value >= 1e6) return absl::StrCat(Plain(value / 1e6), "M");
  if (value >= 1e3) return absl::StrCat(Plain(value / 1e3), "k");
  if (value >= 1e-3) return Plain(value);
  return absl::StrCat("1e", std::lround(std::floor(std::log10(value) + kSlack)));
}

std::string MicrosecondsLabel(double microseconds) {
  if (microseconds >= 1e6) return absl::StrCat(Plain(microseconds / 1e6), " s");
  if (microseconds >= 1e3) return absl::StrCat(Plain(microseconds / 1e3), " ms");
  if (microseconds >= 1) return absl::StrCat(Plain(microseconds), " µs");
  return absl::StrCat(Plain(microseconds * 1e3), " ns");
}

}  // namespace shoal::bench
