#include "bench/process/usage.h"

#include <ctime>
#include <fstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/units.h"

namespace shoal::bench {
namespace {

Duration Read(clockid_t clock) {
  timespec time = {};
  if (clock_gettime(clock, &time) != 0) return Duration::zero();
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A line such as "VmHWM:     1234 kB" of /proc/<pid>/status.
int64_t StatusBytes(pid_t pid, absl::string_view key) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/status"));
  std::string line;
  while (std::getline(file, line)) {
    if (!absl::StartsWith(line, key)) continue;
    absl::string_view number = absl::string_view(line).substr(key.size());
    absl::ConsumeSuffix(&number, " kB");
    int64_t kib = 0;
    return absl::SimpleAtoi(absl::StripAsciiWhitespace(number), &kib) ? kib * kKiB : 0;
  }
  return 0;
}

}  // namespace

Duration ProcessCpu(pid_t pid) {
  clockid_t clock = 0;
  return clock_getcpuclockid(pid, &clock) == 0 ? Read(clock) : Duration::zero();
}

Duration OwnCpu() { return Read(CLOCK_PROCESS_CPUTIME_ID); }

int64_t PeakResidentBytes(pid_t pid) { return StatusBytes(pid, "VmHWM:"); }

int64_t ResidentBytes(pid_t pid) { return StatusBytes(pid, "VmRSS:"); }

void ResetPeakResident(pid_t pid) {
  std::ofstream file(absl::StrCat("/proc/", pid, "/clear_refs"));
  file << "5";
}

}  // namespace shoal::bench
