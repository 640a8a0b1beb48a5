#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/output.h"
#include "bench/table.h"

namespace shoal::bench {

/// The mpi4py experiment: scatter, gather and broadcast of N float64 a rank, so many times, with
/// or without a dot product of each rank's part after each.
struct ExperimentOptions {
  std::vector<int64_t> counts = {10'000, 50'000, 200'000};
  std::vector<int64_t> ranks = {2, 3};
  int64_t iterations = 100;
  int64_t repeat = 3;  ///< Medians are printed.
  bool mpi = true;     ///< Also run it with mpi4py.
  std::string python;  ///< The interpreter that has mpi4py.
};

Table ExperimentTable();

/// Runs it on embedded workers and, in turns with them, with mpi4py on Open MPI. Rows go to
/// `output`, wrong elements are added to `wrong`. If mpi4py cannot be run, a note says so, and
/// Shoal's rows stand alone.
absl::Status RunExperiment(const ExperimentOptions& options, Output* output, int64_t* wrong);

}  // namespace shoal::bench
