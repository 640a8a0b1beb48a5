#pragma once

#include <string>
#include <vector>

#include "bench/report/chart.h"
#include "bench/report/document.h"

namespace shoal::bench {

/// How a subject looks in every chart of the page.
struct SubjectLook {
  std::string title;  ///< "bare gRPC stream"; the name itself where none is known.
  int color = 0;      ///< Index into the palette; 0 is Shoal's alone.
  bool own = false;   ///< Shoal in one of its forms.
};
SubjectLook LookOf(const std::string& subject);

/// A legend in HTML for those subjects, in that order.
std::string Legend(const std::vector<std::string>& subjects);

/// The different values of a field, in the order of their first row.
std::vector<std::string> ValuesOf(const std::vector<Json>& rows, const std::string& key);

/// One line of a chart: the rows of one subject, by x. Rows without either number are left out.
struct LineFields {
  std::string x;
  std::string y;
};
ChartSeries LineOf(const std::vector<Json>& rows, const std::string& subject,
                   const LineFields& fields);

}  // namespace shoal::bench
