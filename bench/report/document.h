#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/output.h"

namespace shoal::bench {

/// The results of one run, as read from JSON that a user may have edited: nothing in it is taken
/// for granted.
struct Document {
  std::string name;  ///< The file's.
  Json head = Json::object();
  std::vector<Json> rows;  ///< Objects.
};

/// Errors:
///   INVALID_ARGUMENT  not JSON, or not {"head": {...}, "rows": [{...}, ...]}.
absl::StatusOr<Document> ParseDocument(const std::string& name, const std::string& text);

/// The value of a field, if it is there and of that type.
std::string TextAt(const Json& row, const std::string& key);  ///< Else "".
std::optional<double> NumberAt(const Json& row, const std::string& key);

/// row["ratio"][name], if it is there.
std::optional<double> RatioAt(const Json& row, const std::string& name);

/// The rows of all documents whose "bench" is `bench`.
std::vector<Json> RowsOf(const std::vector<Document>& documents, const std::string& bench);

}  // namespace shoal::bench
