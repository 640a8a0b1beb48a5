#include "bench/sweep/measure.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "bench/process/usage.h"

namespace shoal::bench {
namespace {

constexpr int64_t kBurstBytes = 4 * kMiB;
constexpr int64_t kFloodBytes = 64 * kMiB;
constexpr int64_t kCallsMax = 512;
constexpr int kFloodRepeats = 3;

int CallsFor(int64_t total_bytes, int64_t request_bytes) {
  return static_cast<int>(
      std::clamp<int64_t>(total_bytes / std::max<int64_t>(request_bytes, 1), 1, kCallsMax));
}

absl::Status Named(const Crew& crew, const absl::Status& status) {
  if (status.ok()) return status;
  return {status.code(), absl::StrCat(crew.subject()->Name(), ": ", status.message())};
}

// The bursts of one subject.
struct Series {
  Crew* crew = nullptr;
  Crew* flood_crew = nullptr;
  std::vector<double> ops_per_s;
  std::vector<double> client_cpu;  // Seconds a call.
  std::vector<double> server_cpu;
  std::vector<Duration> latencies;
  std::vector<double> sent_s;
  std::vector<double> roundtrip_s;
  std::optional<int64_t> peak_rss_bytes;
  int64_t wrong = 0;

  void Add(const BurstResult& burst) {
    const auto calls = static_cast<double>(burst.latencies.size());
    ops_per_s.push_back(calls / Seconds(burst.wall));
    client_cpu.push_back(Seconds(burst.client_cpu) / calls);
    if (burst.server_cpu) server_cpu.push_back(Seconds(*burst.server_cpu) / calls);
    latencies.insert(latencies.end(), burst.latencies.begin(), burst.latencies.end());
    wrong += burst.wrong;
  }
};

class Measuring {
 public:
  Measuring(const Workload& workload, const MeasureOptions& options)
      : workload_(workload), options_(options) {}

  absl::Status Run(const Crews& crews) {
    for (size_t i = 0; i < crews.timed.size(); ++i) {
      Crew* crew = crews.timed[i];
      const Op op = workload_.options().op;
      if (!crew->subject()->Carries(op, workload_.request_bytes())) continue;
      Series& series = series_.emplace_back();
      series.crew = crew;
      if (!crews.floods.empty()) series.flood_crew = crews.floods[i];
      SHOAL_RETURN_IF_ERROR(Named(*crew, Prepare(crew)));
    }
    for (int i = 0; i < options_.warmup; ++i) {
      for (Series& series : series_) SHOAL_RETURN_IF_ERROR(Burst(series, false));
    }
    for (int i = 0; i < options_.repeat; ++i) {
      // Each takes its turn at being first: what a round begins with meets other caches.
      std::rotate(series_.begin(), series_.begin() + (i > 0 ? 1 : 0), series_.end());
      for (Series& series : series_) SHOAL_RETURN_IF_ERROR(Burst(series, true));
    }
    for (Series& series : series_) ReadPeak(&series);
    for (Series& series : series_) {
      SHOAL_RETURN_IF_ERROR(Named(*series.crew, Flood(&series)));
    }
    return absl::OkStatus();
  }

  // In the order of `crews`.
  std::vector<Measurement> Results(const Crews& crews) const {
    std::vector<Measurement> results;
    for (const Crew* crew : crews.timed) {
      for (const Series& series : series_) {
        if (series.crew == crew) results.push_back(ResultOf(series));
      }
    }
    return results;
  }

 private:
  absl::Status Prepare(Crew* crew) {
    SHOAL_RETURN_IF_ERROR(crew->subject()->Reset());
    if (crew->subject()->ServerPid() != 0) ResetPeakResident(crew->subject()->ServerPid());
    const int calls = options_.calls > 0 ? static_cast<int>(options_.calls)
                                         : BurstCalls(workload_.request_bytes());
    // As many as are to be in flight, or they never are.
    return crew->Prepare(&workload_,
                         {std::max(calls, options_.in_flight), options_.in_flight, options_.keep});
  }

  absl::Status Burst(Series& series, bool counts) {
    const absl::StatusOr<BurstResult> burst = series.crew->Burst();
    if (!burst.ok()) return Named(*series.crew, burst.status());
    if (counts) {
      series.Add(*burst);
    } else {
      series.wrong += burst->wrong;
    }
    return absl::OkStatus();
  }

  static void ReadPeak(Series* series) {
    const pid_t pid = series->crew->subject()->ServerPid();
    if (pid != 0) series->peak_rss_bytes = PeakResidentBytes(pid);
  }

  // Of each caller.
  int FloodCount(const Crew& crew) const {
    const int64_t total =
        options_.flood > 0 ? options_.flood : FloodCalls(workload_.request_bytes());
    return static_cast<int>(std::max<int64_t>(total / crew.caller_count(), 1));
  }

  absl::Status Flood(Series* series) {
    Crew* crew = series->flood_crew;
    if (crew == nullptr || !crew->subject()->Overlaps()) return absl::OkStatus();
    const int count = FloodCount(*crew);
    SHOAL_RETURN_IF_ERROR(crew->subject()->Reset());
    SHOAL_RETURN_IF_ERROR(crew->Prepare(&workload_, {count, count, options_.keep}));
    for (int i = 0; i < kFloodRepeats; ++i) {
      SHOAL_ASSIGN_OR_RETURN(const BurstResult burst, crew->Burst());
      series->sent_s.push_back(Seconds(burst.sent));
      series->roundtrip_s.push_back(Seconds(burst.wall));
      series->wrong += burst.wrong;
    }
    return crew->Prepare(&workload_, {0, 1, options_.keep});  // Gives the memory back.
  }

  Measurement ResultOf(const Series& series) const {
    Measurement result;
    result.subject = series.crew->subject()->Name();
    result.plane = series.crew->subject()->Plane();
    result.ops_per_s = Median(series.ops_per_s);
    result.spread = RelativeSpread(series.ops_per_s);
    result.latency = QuantilesOf(series.latencies);
    const double gigabytes = static_cast<double>(workload_.bytes()) / 1e9;
    if (gigabytes > 0) {
      result.client_cpu_s_per_gb = Median(series.client_cpu) / gigabytes;
      if (!series.server_cpu.empty()) {
        result.server_cpu_s_per_gb = Median(series.server_cpu) / gigabytes;
      }
    }
    result.peak_rss_bytes = series.peak_rss_bytes;
    if (!series.sent_s.empty()) {
      result.flood_count = int64_t{FloodCount(*series.crew)} * series.crew->caller_count();
      result.sent_s = Median(series.sent_s);
      result.roundtrip_s = Median(series.roundtrip_s);
    }
    result.wrong = series.wrong;
    for (const Series& other : series_) {
      if (&other != &series) result.ratio[other.crew->subject()->Name()] = Ratio(series, other);
    }
    return result;
  }

  static double Ratio(const Series& series, const Series& other) {
    std::vector<double> ratios;
    for (size_t i = 0; i < series.ops_per_s.size(); ++i) {
      ratios.push_back(series.ops_per_s[i] / other.ops_per_s[i]);
    }
    return Median(ratios);
  }

  const Workload& workload_;
  const MeasureOptions& options_;
  std::vector<Series> series_;
};

}  // namespace

int BurstCalls(int64_t request_bytes) { return CallsFor(kBurstBytes, request_bytes); }

int FloodCalls(int64_t request_bytes) { return CallsFor(kFloodBytes, request_bytes); }

absl::StatusOr<std::vector<Measurement>> MeasureTogether(const Crews& crews,
                                                         const Workload& workload,
                                                         const MeasureOptions& options) {
  Measuring measuring(workload, options);
  SHOAL_RETURN_IF_ERROR(measuring.Run(crews));
  return measuring.Results(crews);
}

}  // namespace shoal::bench
