#pragma once

#include <string>
#include <vector>

#include "bench/report/document.h"

namespace shoal::bench {

// Parts of the page, each from the rows of one bench; "" where there are none.

/// Throughput, latency, processor time and memory against payload size.
std::string SweepSection(const std::vector<Json>& rows);

/// Floods of tasks: rates, and the Sent and Roundtrip curves.
std::string TasksSection(const std::vector<Json>& rows);

/// Bus bandwidth against size, and the mpi4py experiment.
std::string CollectivesSection(const std::vector<Json>& rows);

/// Programs on arrays beside streams and Python's libraries, against the number of elements.
std::string KernelsSection(const std::vector<Json>& rows);

/// A few figures in large type: Shoal's largest payload of each kind, and how it compares.
std::string Tiles(const std::vector<Document>& documents);

}  // namespace shoal::bench
