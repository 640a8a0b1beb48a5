#include "bench/report/subjects.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bench/report/html.h"

namespace shoal::bench {
namespace {

struct Known {
  const char* name;
  const char* title;
  int color;
};
// Colours by kind: gRPC and NumPy warm, sockets green, memory grey. Shoal alone is blue.
constexpr std::array<Known, 22> kKnown = {{{"shoal", "Shoal", 0},
                                           {"shoal_local", "Shoal", 0},
                                           {"shoal_view", "Shoal, views", 8},
                                           {"grpc_stream", "gRPC stream", 1},
                                           {"grpc_unary", "gRPC unary", 2},
                                           {"grpc_messages", "gRPC messages", 1},
                                           {"protobuf", "protobuf bytes", 3},
                                           {"raw_tcp", "raw TCP", 4},
                                           {"raw_unix", "raw Unix socket", 5},
                                           {"signal", "bare signal", 6},
                                           {"memcpy", "memcpy", 7},
                                           {"mpi4py", "mpi4py", 1},
                                           {"ipyparallel", "ipyparallel", 5},
                                           {"dask", "Dask", 3},
                                           {"stream", "stream", 6},
                                           {"stream_nt", "streaming stores", 7},
                                           {"read", "reading", 6},
                                           {"copy", "memcpy", 2},
                                           {"numpy", "NumPy", 1},
                                           {"numpy_out", "NumPy, out=", 3},
                                           {"numexpr", "numexpr", 4},
                                           {"torch", "PyTorch", 5}}};

}  // namespace

SubjectLook LookOf(const std::string& subject) {
  const bool own = absl::StartsWith(subject, "shoal");
  for (const Known& known : kKnown) {
    if (subject == known.name) return {known.title, known.color, own};
  }
  return {subject, own ? 0 : 6, own};
}

std::string Legend(const std::vector<std::string>& subjects) {
  std::string html = "<ul class=\"legend\">";
  for (const std::string& subject : subjects) {
    const SubjectLook look = LookOf(subject);
    absl::StrAppend(&html, "<li", look.own ? " class=\"own\"" : "", "><i style=\"--c:var(--series-",
                    look.color, ")\"></i>", Escape(look.title), "</li>");
  }
  return absl::StrCat(html, "</ul>\n");
}

std::vector<std::string> ValuesOf(const std::vector<Json>& rows, const std::string& key) {
  std::vector<std::string> values;
  for (const Json& row : rows) {
    const std::string value = TextAt(row, key);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

ChartSeries LineOf(const std::vector<Json>& rows, const std::string& subject,
                   const LineFields& fields) {
  const SubjectLook look = LookOf(subject);
  ChartSeries series{look.title, look.color, false, look.own, {}};
  for (const Json& row : rows) {
    const std::optional<double> x = NumberAt(row, fields.x);
    const std::optional<double> y = NumberAt(row, fields.y);
    if (TextAt(row, "subject") != subject || !x.has_value() || !y.has_value()) continue;
    series.points.push_back({*x, *y});
  }
  std::stable_sort(series.points.begin(), series.points.end(),
                   [](const Point& a, const Point& b) { return a.x < b.x; });
  return series;
}

}  // namespace shoal::bench
