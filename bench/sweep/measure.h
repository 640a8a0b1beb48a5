#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/stats.h"
#include "bench/subject.h"
#include "bench/sweep/crew.h"
#include "bench/sweep/workload.h"

namespace shoal::bench {

struct MeasureOptions {
  int warmup = 1;  ///< Bursts before those that count.
  int repeat = 5;  ///< Bursts that count; figures are their medians.
  int in_flight = 1;
  bool keep = true;   ///< Call::keep.
  int64_t calls = 0;  ///< Of a caller in a burst; 0: as `BurstCalls` has it.
  int64_t flood = 0;  ///< Requests sent at once; 0: as `FloodCalls` has it.
};

/// What one subject did with one payload size.
struct Measurement {
  std::string subject;
  std::string plane;
  double ops_per_s = 0;
  double spread = 0;  ///< RelativeSpread of ops_per_s over the bursts.
  Quantiles latency;
  /// Processor time for 10^9 payload bytes, counted once. Nothing for empty payloads, and where
  /// there is no server process that is known.
  std::optional<double> client_cpu_s_per_gb;
  std::optional<double> server_cpu_s_per_gb;
  std::optional<int64_t> peak_rss_bytes;  ///< Of the server; nothing where there is none.
  std::optional<double> sent_s;           ///< Nothing where calls cannot overlap.
  std::optional<double> roundtrip_s;
  int64_t flood_count = 0;
  int64_t wrong = 0;
  /// ops_per_s over that of each other subject in the same round; the median over the rounds.
  std::map<std::string, double> ratio;
};

/// Calls in a burst: so many that their payloads come to 4 MiB, but 1 to 512.
///
/// More would push small payloads out of the caches before they are sent, which no caller that
/// sends what it has just made would see.
int BurstCalls(int64_t request_bytes);

/// Requests in a flood: so many that their payloads come to 64 MiB, but 1 to 512.
int FloodCalls(int64_t request_bytes);

/// What is measured: the same subjects twice, in the same order.
struct Crews {
  std::vector<Crew*> timed;
  /// For floods, which hold many payloads at once: on servers of their own, or the peak memory of
  /// later sizes would be theirs. Empty: no floods.
  std::vector<Crew*> floods;
};

/// Measures all subjects side by side: one short burst of each, round after round, so that what
/// disturbs the machine disturbs all alike. Then a few floods of each.
///
/// Subjects that do not carry the payload (Subject::Carries) are left out.
///
/// Errors: of the first call that failed, with the subject's name.
absl::StatusOr<std::vector<Measurement>> MeasureTogether(const Crews& crews,
                                                         const Workload& workload,
                                                         const MeasureOptions& options);

}  // namespace shoal::bench
