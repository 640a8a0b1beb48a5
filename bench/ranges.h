#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal::bench {

struct SizeSweep {
  int64_t first = 8;
  int64_t last = 0;
  int64_t factor = 4;
};

/// first, first * factor, ... as far as `last`, and `last` itself where the steps miss it.
///
/// A `first` of 0 is followed by 1, as nothing multiplied stays nothing.
///
/// Errors:
///   INVALID_ARGUMENT  last below first, or a factor below 2.
absl::StatusOr<std::vector<int64_t>> SizesOf(const SizeSweep& sweep);

/// Reads numbers: "4", "1,2,8", or "1:16:2x" (from 1 to 16, doubling) and "1:7:2+" (adding).
///
/// Each at least 1; the end is included where the steps miss it.
///
/// Errors:
///   INVALID_ARGUMENT  not of that form.
absl::StatusOr<std::vector<int64_t>> ParseCounts(absl::string_view text);

}  // namespace shoal::bench
