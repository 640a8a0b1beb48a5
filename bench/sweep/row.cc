#include "bench/sweep/row.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace shoal::bench {
namespace {

double GibPerSecond(const Measurement& measured, int64_t bytes) {
  return measured.ops_per_s * static_cast<double>(bytes) / static_cast<double>(kGiB);
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

std::optional<double> Sum(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value()) return b;
  return b.has_value() ? *a + *b : *a;
}

std::string OpText(const SweepPoint& point) {
  return point.function.empty() ? point.op : absl::StrCat(point.op, ":", point.function);
}

}  // namespace

Table SweepTable(const std::vector<std::string>& ceilings) {
  std::vector<Column> columns = {{"bytes", 10, false, ""},
                                 {"what", 11, true, ""},
                                 {"op", 5, true, ""},
                                 {"route", 6, true, ""},
                                 {"plane", 5, true, ""},
                                 {"conc", 4, false, ""},
                                 {"ops/s", 8, false, ""},
                                 {"in", 7, false, "GiB/s"},
                                 {"out", 7, false, "GiB/s"},
                                 {"p50", 7, false, "latency us"},
                                 {"p90", 7, false, "latency us"},
                                 {"p99", 7, false, "latency us"},
                                 {"max", 7, false, "latency us"},
                                 {"N", 4, false, "flood s"},
                                 {"sent", 8, false, "flood s"},
                                 {"roundtrip", 9, false, "flood s"},
                                 {"client", 7, false, "CPU-s/GB"},
                                 {"server", 7, false, "CPU-s/GB"},
                                 {"peak MiB", 8, false, ""},
                                 {"#wrong", 6, false, ""}};
  for (const std::string& ceiling : ceilings) {
    columns.push_back({ceiling, 7, false, "speed as a ratio to"});
  }
  return Table(std::move(columns));
}

std::vector<std::string> SweepCells(const SweepPoint& point, const Measurement& measured,
                                    const std::vector<std::string>& ceilings) {
  std::vector<std::string> cells = {
      absl::StrCat(point.bytes),
      measured.subject,
      OpText(point),
      measured.subject == "shoal" ? point.route : "",
      measured.plane,
      absl::StrCat(point.concurrency),
      Significant(measured.ops_per_s),
      Significant(GibPerSecond(measured, point.in_bytes)),
      Significant(GibPerSecond(measured, point.out_bytes)),
      Significant(measured.latency.p50_us),
      Significant(measured.latency.p90_us),
      Significant(measured.latency.p99_us),
      Significant(measured.latency.max_us),
      measured.flood_count > 0 ? absl::StrCat(measured.flood_count) : "-",
      Significant(measured.sent_s),
      Significant(measured.roundtrip_s),
      Significant(measured.client_cpu_s_per_gb),
      Significant(measured.server_cpu_s_per_gb),
      measured.peak_rss_bytes.has_value()
          ? Significant(static_cast<double>(*measured.peak_rss_bytes) / static_cast<double>(kMiB))
          : "-",
      absl::StrCat(measured.wrong)};
  for (const std::string& ceiling : ceilings) {
    const auto it = measured.ratio.find(ceiling);
    cells.push_back(it == measured.ratio.end() ? "" : Significant(it->second));
  }
  return cells;
}

Json SweepJson(const SweepPoint& point, const Measurement& measured) {
  Json row = {
      {"bench", "sweep"},
      {"subject", measured.subject},
      {"op", point.op},
      {"route", measured.subject == "shoal" ? Json(point.route) : Json(nullptr)},
      {"plane", measured.plane.empty() ? Json(nullptr) : Json(measured.plane)},
      {"dtype", point.dtype},
      {"bytes", point.bytes},
      {"concurrency", point.concurrency},
      {"in_flight", point.in_flight},
      {"ops_per_s", measured.ops_per_s},
      {"gib_per_s", GibPerSecond(measured, point.bytes)},
      {"gib_in_per_s", GibPerSecond(measured, point.in_bytes)},
      {"gib_out_per_s", GibPerSecond(measured, point.out_bytes)},
      {"spread", measured.spread},
      {"flood_count", measured.flood_count},
      {"sent_s", OrNull(measured.sent_s)},
      {"roundtrip_s", OrNull(measured.roundtrip_s)},
      {"p50_us", measured.latency.p50_us},
      {"p90_us", measured.latency.p90_us},
      {"p99_us", measured.latency.p99_us},
      {"max_us", measured.latency.max_us},
      {"cpu_s_per_gb", OrNull(Sum(measured.client_cpu_s_per_gb, measured.server_cpu_s_per_gb))},
      {"cpu_client_s_per_gb", OrNull(measured.client_cpu_s_per_gb)},
      {"cpu_server_s_per_gb", OrNull(measured.server_cpu_s_per_gb)},
      {"peak_rss_bytes", OrNull(measured.peak_rss_bytes)},
      {"wrong", measured.wrong},
      {"ratio", Json(measured.ratio)}};
  if (measured.ratio.empty()) row["ratio"] = Json::object();
  if (!point.function.empty()) row["function"] = point.function;
  return row;
}

}  // namespace shoal::bench
