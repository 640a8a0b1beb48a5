#include <map>

#include "absl/strings/str_cat.h"
#include "bench/report/html.h"
#include "bench/report/scale.h"
#include "bench/report/sections.h"
#include "bench/report/subjects.h"
#include "bench/table.h"

namespace shoal::bench {
namespace {

std::string Tile(const std::string& label, const std::string& figure, const std::string& note) {
  return absl::StrCat("<div class=\"tile\"><span>", Escape(label), "</span><strong>",
                      Escape(figure), "</strong><em>", Escape(note), "</em></div>\n");
}

std::string Versus(const Json& row, const std::string& peer) {
  const std::optional<double> ratio = RatioAt(row, peer);
  if (!ratio.has_value()) return "";
  return absl::StrCat(Significant(*ratio), " × ", LookOf(peer).title);
}

// The row of Shoal's with the largest payload, for each op and plane.
std::string SweepTiles(const std::vector<Json>& rows) {
  std::map<std::string, Json> largest;
  std::vector<std::string> order;
  for (const Json& row : rows) {
    if (TextAt(row, "subject") != "shoal") continue;
    const std::string key = absl::StrCat(TextAt(row, "op"), ", ", TextAt(row, "plane"));
    const auto [it, added] = largest.try_emplace(key, row);
    if (added) order.push_back(key);
    if (NumberAt(row, "bytes") > NumberAt(it->second, "bytes")) it->second = row;
  }
  std::string html;
  for (const std::string& key : order) {
    const Json& row = largest[key];
    absl::StrAppend(&html,
                    Tile(absl::StrCat(key, ", ", BytesLabel(NumberAt(row, "bytes").value_or(0))),
                         absl::StrCat(Significant(NumberAt(row, "gib_per_s")), " GiB/s"),
                         Versus(row, "grpc_stream")));
  }
  return html;
}

std::string TaskTiles(const std::vector<Json>& rows) {
  const Json* best = nullptr;
  for (const Json& row : rows) {
    if (TextAt(row, "subject") != "shoal") continue;
    if (best == nullptr || NumberAt(row, "ops_per_s") > NumberAt(*best, "ops_per_s")) best = &row;
  }
  if (best == nullptr) return "";
  return Tile("tiny tasks, one session",
              absl::StrCat(NumberLabel(NumberAt(*best, "ops_per_s").value_or(0)), " /s"),
              Versus(*best, "grpc_unary"));
}

}  // namespace

std::string Tiles(const std::vector<Document>& documents) {
  const std::string tiles =
      absl::StrCat(SweepTiles(RowsOf(documents, "sweep")), TaskTiles(RowsOf(documents, "tasks")));
  return tiles.empty() ? "" : absl::StrCat("<div class=\"tiles\">\n", tiles, "</div>\n");
}

}  // namespace shoal::bench
