#pragma once

#include <string>
#include <vector>

#include "bench/kernels/measure.h"
#include "bench/output.h"
#include "bench/table.h"

namespace shoal::bench {

/// One line for each point. `peers`: a column of ratios for each.
Table KernelTable(const std::vector<std::string>& peers);

/// Adds a point's rows: one of JSON for each subject, of which Shoal's is printed.
void AddRows(const CasePoint& point, const CaseFigures& figures,
             const std::vector<std::string>& peers, Output* output);

/// All that was wrong at this point, of any subject.
int64_t WrongOf(const CaseFigures& figures);

}  // namespace shoal::bench
