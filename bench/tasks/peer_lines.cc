#include "bench/tasks/peer_lines.h"

#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "bench/table.h"

namespace shoal::bench {
namespace {

using nlohmann::json;

absl::Status NotALine(const std::string& line) {
  constexpr size_t kQuotedMax = 200;
  return absl::AbortedError(
      absl::StrCat("not a line of the peer's program: ", line.substr(0, kQuotedMax)));
}

json ParseObject(const std::string& line) {
  json object = json::parse(line, nullptr, false);
  return object.is_object() ? object : json::object();
}

std::optional<std::string> Text(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return std::nullopt;
  return it->get<std::string>();
}

// Only what a time or an amount can be.
std::optional<double> Amount(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number() || it->get<double>() < 0) return std::nullopt;
  return it->get<double>();
}

std::optional<int64_t> Count(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_number_integer() || it->get<int64_t>() < 0) return std::nullopt;
  return it->get<int64_t>();
}

Duration OfSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::string PeerAbout::Text() const {
  std::string text = absl::StrCat(version, ", Python ", python, ", ", workers, " workers, ", mode);
  const char* before = " (";
  for (const auto& [way, rate] : tried) {
    absl::StrAppend(&text, before, way, " ", Significant(rate), "/s");
    before = ", ";
  }
  return tried.empty() ? text : absl::StrCat(text, " when both were tried)");
}

absl::StatusOr<PeerAbout> ParsePeerAbout(const std::string& line) {
  const json object = ParseObject(line);
  const auto version = Text(object, "version");
  const auto python = Text(object, "python");
  const auto workers = Count(object, "workers");
  const auto way = Text(object, "way");
  if (!version.has_value() || !python.has_value() || !workers.has_value()) return NotALine(line);
  if (way != "one_by_one" && way != "batched") return NotALine(line);
  PeerAbout about{*version, *python, *workers, *way, {}};
  const json tried = object.value("tried", json::object());
  if (!tried.is_object()) return NotALine(line);
  for (const auto& [name, rate] : tried.items()) {
    if (!rate.is_number()) return NotALine(line);
    about.tried[name] = rate.get<double>();
  }
  return about;
}

absl::StatusOr<FloodResult> ParsePeerFlood(const std::string& line, int64_t count) {
  const json object = ParseObject(line);
  const auto counted = Count(object, "count");
  const auto sent = Amount(object, "sent_s");
  const auto roundtrip = Amount(object, "roundtrip_s");
  const auto wrong = Count(object, "wrong");
  if (!counted.has_value() || !sent.has_value() || !roundtrip.has_value() || !wrong.has_value()) {
    return NotALine(line);
  }
  // Zero or times the wrong way round: no measurement.
  if (*counted != count || *sent > *roundtrip || *roundtrip <= 0) return NotALine(line);
  const auto client = Amount(object, "cpu_client_s");
  const auto server = Amount(object, "cpu_server_s");
  const auto peak = Count(object, "peak_rss_bytes");
  if (!client.has_value() || !server.has_value() || !peak.has_value()) return NotALine(line);

  FloodResult result;
  result.sent = OfSeconds(*sent);
  result.roundtrip = OfSeconds(*roundtrip);
  result.wrong = *wrong;
  result.usage = FloodUsage{OfSeconds(*client), OfSeconds(*server), *peak};
  return result;
}

}  // namespace shoal::bench
