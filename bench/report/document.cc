#include "bench/report/document.h"

#include "absl/strings/str_cat.h"

namespace shoal::bench {

absl::StatusOr<Document> ParseDocument(const std::string& name, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto bad = [&](const char* what) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", what));
  };
  if (json.is_discarded()) return bad("not JSON");
  if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array()) {
    return bad("not the results of a run: there are no rows");
  }
  Document document;
  document.name = name;
  if (json.contains("head") && json["head"].is_object()) document.head = json["head"];
  for (const Json& row : json["rows"]) {
    if (!row.is_object()) return bad("a row is not an object");
    document.rows.push_back(row);
  }
  return document;
}

std::string TextAt(const Json& row, const std::string& key) {
  const auto it = row.find(key);
  return it != row.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::optional<double> NumberAt(const Json& row, const std::string& key) {
  const auto it = row.find(key);
  if (it == row.end() || !it->is_number()) return std::nullopt;
  return it->get<double>();
}

std::optional<double> RatioAt(const Json& row, const std::string& name) {
  const auto it = row.find("ratio");
  if (it == row.end() || !it->is_object()) return std::nullopt;
  return NumberAt(*it, name);
}

std::vector<Json> RowsOf(const std::vector<Document>& documents, const std::string& bench) {
  std::vector<Json> rows;
  for (const Document& document : documents) {
    for (const Json& row : document.rows) {
      if (TextAt(row, "bench") == bench) rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace shoal::bench
