#pragma once

#include <string>
#include <vector>

#include "bench/report/document.h"

namespace shoal::bench {

/// The whole report: one HTML page that needs nothing else.
std::string BuildPage(const std::vector<Document>& documents);

}  // namespace shoal::bench
