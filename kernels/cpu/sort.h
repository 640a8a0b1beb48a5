#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/registry.h"
#include "kernels/sort.h"

// Sorting, on the calling thread. A caller with several threads or shards sorts pieces of one row
// with RunSort, then merges them with RunMerge, each thread producing its own range of ranks; no
// thread waits for another.
//
// Thread-safety: functions of their arguments; any number of calls at once, on outputs that do not
// overlap.
namespace shoal::kernels::cpu {

/// A sorted piece.
struct SortedRun {
  const void* data = nullptr;  ///< `count` elements, aligned to their size.
  int64_t count = 0;           ///< 0 is allowed.
};

/// The elements with the ranks [first_rank, first_rank + count) of all runs taken together.
struct MergeArgs {
  DType dtype = DType::kFloat32;
  std::span<const SortedRun> runs;
  int64_t first_rank = 0;
  int64_t count = 0;       ///< first_rank + count is at most the sum of the runs' counts.
  void* output = nullptr;  ///< `count` elements; must not overlap a run.
};

/// Sorts each row in place, as the op says.
///
/// Requires: `op` is an element of AllOps() of form kSort that supports the dtype; both are
/// checked.
void RunSort(const OpInfo& op, const SortArgs& args);

/// Merges the given range of ranks of runs that RunSort made. Requires: as RunSort.
void RunMerge(const OpInfo& op, const MergeArgs& args);

// The code of the op "sort": the total order of kernels/sort.h.

/// Sorts each row in place. Every real dtype; complex is a failed check.
///
/// Cost: O(n log n) per row, O(n) for bool, int8, uint8 and for long rows of 16-bit dtypes. Works
///   in at most 600 KiB besides the data.
void SortRows(const SortArgs& args);

/// How many elements of each run are among the `rank` smallest of all runs.
///
/// Equal elements are taken from the first runs first, so splits at rising ranks never cross.
/// `rank` is at most the sum of the counts. Cost: O(runs * log^2 n), no pass over the data.
std::vector<int64_t> SplitRuns(DType dtype, std::span<const SortedRun> runs, int64_t rank);

/// Merges the given range of ranks into the output. Cost: O(count * log runs) after a SplitRuns.
void MergeRuns(const MergeArgs& args);

}  // namespace shoal::kernels::cpu
