#include "bench/report/html.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace shoal::bench {

std::string Escape(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string HtmlTable(const std::vector<std::string>& titles,
                      const std::vector<std::vector<std::string>>& rows, size_t left_columns) {
  std::string html = "<div class=\"scroll\"><table><thead><tr>";
  for (size_t i = 0; i < titles.size(); ++i) {
    absl::StrAppend(&html, i < left_columns ? "<th class=\"word\">" : "<th>", Escape(titles[i]),
                    "</th>");
  }
  absl::StrAppend(&html, "</tr></thead><tbody>\n");
  for (const std::vector<std::string>& row : rows) {
    const bool own = !row.empty() && row.front().rfind("shoal", 0) == 0;
    absl::StrAppend(&html, own ? "<tr class=\"own\">" : "<tr>");
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&html, i < left_columns ? "<td class=\"word\">" : "<td>", Escape(row[i]),
                      "</td>");
    }
    absl::StrAppend(&html, "</tr>\n");
  }
  return absl::StrCat(html, "</tbody></table></div>\n");
}

std::string Details(const std::string& summary, const std::string& html) {
  return absl::StrCat("<details><summary>", Escape(summary), "</summary>\n", html, "</details>\n");
}

}  // namespace shoal::bench
