#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace shoal::bench {

/// One line of bench/peers/mpi_collectives.py.
struct MpiResult {
  std::string op;
  int64_t count = 0;
  double seconds = 0;  ///< All iterations, of the slowest rank.
  int64_t wrong = 0;
};

struct MpiRun {
  std::string python;
  std::vector<int64_t> counts;
  int64_t ranks = 2;
  int64_t iterations = 100;
  bool dot = false;
};

/// Runs the experiment with mpi4py under mpirun, on this machine.
///
/// Errors:
///   NOT_FOUND          mpirun, the interpreter, mpi4py or the script is missing.
///   DEADLINE_EXCEEDED  it did not end within two minutes.
///   ABORTED            it failed.
absl::StatusOr<std::vector<MpiResult>> RunMpi(const MpiRun& run);

}  // namespace shoal::bench
