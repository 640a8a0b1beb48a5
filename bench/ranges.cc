#include "bench/ranges.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace shoal::bench {
namespace {

absl::Status BadCounts(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("not counts: '", text, "' (examples: 4; 1,2,8; 1:16:2x; 1:7:2+)"));
}

// "1:16:2x": `fields` is the text cut at the colons.
absl::StatusOr<std::vector<int64_t>> Steps(absl::string_view text,
                                           const std::vector<std::string>& fields) {
  std::string step = fields[2];
  if (step.empty()) return BadCounts(text);
  const char kind = step.back();
  step.pop_back();
  int64_t first = 0;
  int64_t last = 0;
  int64_t by = 0;
  const bool numbers = absl::SimpleAtoi(fields[0], &first) && absl::SimpleAtoi(fields[1], &last) &&
                       absl::SimpleAtoi(step, &by);
  if (!numbers || first < 1 || last < first) return BadCounts(text);
  if (kind == 'x' && by >= 2) return SizesOf({first, last, by});
  if (kind != '+' || by < 1) return BadCounts(text);
  std::vector<int64_t> counts;
  for (int64_t count = first; count <= last; count += by) counts.push_back(count);
  if (counts.back() != last) counts.push_back(last);
  return counts;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> SizesOf(const SizeSweep& sweep) {
  if (sweep.first < 0 || sweep.last < sweep.first || sweep.factor < 2) {
    return absl::InvalidArgumentError(absl::StrCat("no sizes from ", sweep.first, " to ",
                                                   sweep.last, " by a factor of ", sweep.factor));
  }
  std::vector<int64_t> sizes;
  int64_t size = sweep.first;
  while (size < sweep.last) {
    sizes.push_back(size);
    if (size > sweep.last / sweep.factor) break;  // The next step would pass it, or overflow.
    size = size == 0 ? 1 : size * sweep.factor;
  }
  sizes.push_back(sweep.last);
  return sizes;
}

absl::StatusOr<std::vector<int64_t>> ParseCounts(absl::string_view text) {
  const std::vector<std::string> fields = absl::StrSplit(text, ':');
  if (fields.size() == 3) return Steps(text, fields);
  if (fields.size() != 1) return BadCounts(text);
  std::vector<int64_t> counts;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t count = 0;
    if (!absl::SimpleAtoi(part, &count) || count < 1) return BadCounts(text);
    counts.push_back(count);
  }
  return counts;
}

}  // namespace shoal::bench
