#pragma once

#include <string>
#include <vector>

#include "bench/output.h"
#include "bench/sweep/measure.h"
#include "bench/table.h"

namespace shoal::bench {

/// What all rows of one measurement share.
struct SweepPoint {
  std::string op;
  std::string function;  ///< kApply only; otherwise empty.
  std::string route;
  std::string dtype;
  int64_t bytes = 0;
  int64_t in_bytes = 0;   ///< Carried to the server by a call.
  int64_t out_bytes = 0;  ///< Carried back.
  int64_t concurrency = 1;
  int64_t in_flight = 1;
};

/// The sweep's columns; `ceilings` are those that a ratio is printed for.
Table SweepTable(const std::vector<std::string>& ceilings);

std::vector<std::string> SweepCells(const SweepPoint& point, const Measurement& measured,
                                    const std::vector<std::string>& ceilings);

/// A row of bench/schema.json.
Json SweepJson(const SweepPoint& point, const Measurement& measured);

}  // namespace shoal::bench
