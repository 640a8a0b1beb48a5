#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "bench/collectives/layout.h"
#include "bench/output.h"
#include "bench/table.h"

namespace shoal::bench {

struct CollectiveTableOptions {
  std::vector<collective::Operation> operations;
  std::vector<int64_t> ranks;
  std::vector<int64_t> sizes;  ///< TotalBytes, rounded to whole blocks.
  kernels::DType dtype = kernels::DType::kFloat32;
  int64_t iterations = 20;  ///< In a round; there are five.
  int64_t warmup = 5;
};

Table CollectiveTable();

/// Runs every operation, place, number of ranks and size on embedded workers, as nccl-tests does,
/// and adds a row for each to `output`. Adds wrong elements to `wrong`.
absl::Status RunCollectiveTable(const CollectiveTableOptions& options, Output* output,
                                int64_t* wrong);

}  // namespace shoal::bench
