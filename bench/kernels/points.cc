#include "bench/kernels/points.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/ranges.h"

namespace shoal::bench {
namespace {

constexpr int64_t kThreadsMax = 256;
// Of 8 bytes each: 8 TiB, beyond which sums of bytes could overflow.
constexpr int64_t kElementsMax = int64_t{1} << 40;

absl::StatusOr<std::vector<int64_t>> ParseThreads(const std::string& text) {
  SHOAL_ASSIGN_OR_RETURN(std::vector<int64_t> threads, ParseCounts(text));
  if (*std::max_element(threads.begin(), threads.end()) > kThreadsMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kThreadsMax, " threads"));
  }
  return threads;
}

bool Wanted(const PointChoice& choice, const KernelCase& which) {
  return choice.cases.empty() ||
         std::find(choice.cases.begin(), choice.cases.end(), which.name) != choice.cases.end();
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ParseElements(const std::string& text) {
  const bool ends_only = std::count(text.begin(), text.end(), ':') == 1;
  SHOAL_ASSIGN_OR_RETURN(std::vector<int64_t> elements,
                         ParseCounts(ends_only ? absl::StrCat(text, ":8x") : text));
  if (*std::max_element(elements.begin(), elements.end()) > kElementsMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kElementsMax, " elements"));
  }
  return elements;
}

absl::StatusOr<std::vector<CasePoint>> PointsOf(const PointChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseElements(choice.elements));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<int64_t> threads, ParseThreads(choice.threads));
  std::vector<CasePoint> points;
  for (const KernelCase& which : AllCases()) {
    if (!Wanted(choice, which)) continue;
    for (const std::string& name : choice.dtypes) {
      const kernels::DType dtype = *kernels::DTypeByName(name);
      if (!Supports(which, dtype)) continue;
      for (const int64_t elements : sizes) {
        for (const int64_t count : threads) points.push_back({&which, dtype, elements, count});
      }
    }
  }
  if (points.empty()) return absl::InvalidArgumentError("no case has these dtypes");
  return points;
}

}  // namespace shoal::bench
