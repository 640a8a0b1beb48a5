#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/kernels/measure.h"

namespace shoal::bench {

/// Which rows are wanted, as the flags say it.
struct PointChoice {
  std::vector<std::string> cases;   ///< Names; empty: all.
  std::vector<std::string> dtypes;  ///< Names; a case that has none of them has no row.
  std::string elements;             ///< As ParseElements reads it.
  std::string threads;              ///< As ParseCounts reads it.
};

/// Reads numbers of elements: as ParseCounts, and "A:B" for "A:B:8x".
///
/// Errors: INVALID_ARGUMENT.
absl::StatusOr<std::vector<int64_t>> ParseElements(const std::string& text);

/// The rows in the order in which they are measured: cases as AllCases has them, in each the
/// dtypes, in each the sizes, in each the threads.
///
/// Errors:
///   INVALID_ARGUMENT  bad numbers, more than 256 threads, or no row at all.
absl::StatusOr<std::vector<CasePoint>> PointsOf(const PointChoice& choice);

}  // namespace shoal::bench
