#pragma once

#include <string>
#include <vector>

namespace shoal::bench {

/// Text as it may stand in HTML and in quoted attributes.
std::string Escape(const std::string& text);

/// A table for HTML: cells are escaped; the first `left_columns` are words, the rest numbers.
std::string HtmlTable(const std::vector<std::string>& titles,
                      const std::vector<std::vector<std::string>>& rows, size_t left_columns);

/// A block that opens on a click.
std::string Details(const std::string& summary, const std::string& html);

}  // namespace shoal::bench
