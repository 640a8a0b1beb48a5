#include <grpcpp/grpcpp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/units.h"
#include "bench/commit.h"
#include "bench/output.h"

namespace shoal::bench {
namespace {

// The value of the first line that begins with `key`, without what separates them.
std::string ValueInFile(const char* path, absl::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!absl::StartsWith(line, key)) continue;
    absl::string_view value = absl::string_view(line).substr(key.size());
    while (!value.empty() && absl::StrContains(" \t:=\"", value.substr(0, 1)))
      value.remove_prefix(1);
    absl::ConsumeSuffix(&value, "\"");
    return std::string(value);
  }
  return "";
}

Json Machine() {
  utsname names = {};
  uname(&names);
  return {{"cpu", ValueInFile("/proc/cpuinfo", "model name")},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory_bytes", int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE)},
          {"os", ValueInFile("/etc/os-release", "PRETTY_NAME")},
          {"kernel", absl::StrCat(names.sysname, " ", names.release)},
          {"arch", names.machine}};
}

std::string TextAt(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string("?");
}

}  // namespace

Json MakeHead(const std::string& command, const std::map<std::string, std::string>& flags) {
  return {{"program", "shoal-bench"},
          {"version", Version()},
          {"schema", 1},
          {"commit", Commit()},
          {"build", Build()},
          {"grpc", grpc::Version()},
          {"time", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone())},
          {"machine", Machine()},
          {"command", command},
          {"flags", flags}};
}

std::string HeadText(const Json& head) {
  const Json machine = head.contains("machine") ? head["machine"] : Json::object();
  const int64_t memory = machine.value("memory_bytes", int64_t{0});
  return absl::StrCat(
      TextAt(head, "program"), " ", TextAt(head, "version"), " ", TextAt(head, "commit"), ", ",
      TextAt(head, "build"), ", gRPC ", TextAt(head, "grpc"), ", ", TextAt(head, "time"), "\n",
      TextAt(machine, "cpu"), ", ", machine.value("cores", 0), " cores, ", FormatBytes(memory),
      ", ", TextAt(machine, "os"), ", ", TextAt(machine, "kernel"), "\n", TextAt(head, "command"));
}

}  // namespace shoal::bench
