#include "server/app/config.h"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "base/units.h"
#include "server/memory/arena.h"

namespace shoal::app {
namespace {

/// A size, or a percentage of the machine's memory.
absl::StatusOr<int64_t> BytesOrPart(const std::string& text, int64_t machine_bytes) {
  absl::string_view number = text;
  if (!absl::ConsumeSuffix(&number, "%")) return ParseBytes(text);
  double percent = 0;
  if (!absl::SimpleAtod(number, &percent) || !(percent > 0 && percent <= 100)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a part"));
  }
  return static_cast<int64_t>(static_cast<double>(machine_bytes) * percent / 100);
}

absl::StatusOr<int64_t> MemoryLimit(const std::string& text, int64_t machine_bytes) {
  constexpr int64_t kMin = 64 * kMiB;
  const absl::StatusOr<int64_t> bytes = BytesOrPart(text, machine_bytes);
  std::string wrong;
  if (!bytes.ok()) {
    wrong = std::string(bytes.status().message());
  } else if (*bytes < kMin) {
    wrong = absl::StrCat("less than ", FormatBytes(kMin));
  } else if (*bytes > memory::kArenaBytesMax) {
    wrong = absl::StrCat("more than ", FormatBytes(memory::kArenaBytesMax));
  } else {
    return *bytes;
  }
  return absl::InvalidArgumentError("--memory-limit: " + wrong);
}

/// A name that merely begins like one (127.example.com) is not.
bool IsLoopback(const std::string& host) {
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

std::string WithoutBrackets(const std::string& host) {
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return bracketed ? host.substr(1, host.size() - 2) : host;
}

/// The memory limit of this process's control group, if it is below the machine's.
int64_t ControlGroupLimit(int64_t machine_bytes) {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  int64_t limit = 0;
  return file >> limit ? std::min(limit, machine_bytes) : machine_bytes;
}

// "Unlimited" is no number to take an eighth of.
constexpr int64_t kDescriptorsUseful = 1 << 20;
// Each of them costs some 30 KiB as soon as it speaks.
constexpr int64_t kConnectionsMax = 16384;
// What is left to files, HTTP and the libraries however many connections there are.
constexpr int64_t kOtherDescriptors = 64;

/// Shares the descriptors out: whatever one kind of client does, the others find some.
absl::Status ShareDescriptors(int64_t descriptors, int64_t connections, Config* config) {
  config->lease_connections_max = std::clamp<int64_t>(descriptors / 16, 4, 1024);
  config->leases_max = std::max<int64_t>(descriptors / 4, 4);
  config->connections_max =
      connections != 0 ? connections : std::clamp<int64_t>(descriptors / 2, 4, kConnectionsMax);
  const int64_t wanted = config->connections_max + config->lease_connections_max +
                         config->leases_max + kOtherDescriptors;
  if (connections == 0 || wanted <= descriptors) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--connection-limit ", connections, " takes ",
                                                 wanted,
                                                 " descriptors with what else there is,"
                                                 " and this process may have ",
                                                 descriptors, ": raise RLIMIT_NOFILE"));
}

telemetry::LogLevel LevelByName(const std::string& name) {
  if (name == "debug") return telemetry::LogLevel::kDebug;
  if (name == "warning") return telemetry::LogLevel::kWarning;
  if (name == "error") return telemetry::LogLevel::kError;
  return telemetry::LogLevel::kInfo;
}

}  // namespace

std::string HostAndPort(const std::string& host, int port) {
  const bool is_ipv6 = absl::StrContains(host, ":");
  return is_ipv6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

Machine ThisMachine() {
  Machine machine;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) machine.cores = CPU_COUNT(&allowed);
  machine.memory_bytes =
      ControlGroupLimit(int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)});
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    machine.descriptors =
        static_cast<int64_t>(std::min<rlim_t>(descriptors.rlim_cur, kDescriptorsUseful));
  }
  return machine;
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, kDescriptorsUseful);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_NOFILE, &limit);  // Refused: it stays as it was, and so do the shares of it.
}

absl::StatusOr<Config> MakeConfig(const ParsedOptions& options, const Machine& machine) {
  Config config;
  config.host = WithoutBrackets(options.String("host"));
  if (config.host.empty()) return absl::InvalidArgumentError("--host: no address");
  if (!IsLoopback(config.host) && !options.Bool("insecure")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--host ", config.host,
        " is reachable by others, and TLS is not built yet: say --insecure to accept that"));
  }
  if (options.String("backend") == "cuda") {
    return absl::FailedPreconditionError(
        "--backend cuda: the cuda device is not built yet; use --backend cpu");
  }
  config.port = static_cast<int>(options.Int("port"));
  config.http_port = static_cast<int>(options.Int("http-port"));
  config.unix_socket = options.Bool("unix-socket");
  config.socket_dir = options.String("socket-dir");
  config.workers = static_cast<int>(options.Int("workers"));
  constexpr int kDefaultWorkersMax = 4;
  if (config.workers == 0) config.workers = std::min(machine.cores, kDefaultWorkersMax);
  config.threads = static_cast<int>(options.Int("threads"));
  if (config.threads == 0) config.threads = std::max(1, machine.cores / config.workers);
  SHOAL_ASSIGN_OR_RETURN(config.memory_limit_bytes,
                         MemoryLimit(options.String("memory-limit"), machine.memory_bytes));
  SHOAL_RETURN_IF_ERROR(
      ShareDescriptors(machine.descriptors, options.Int("connection-limit"), &config));
  config.policy = options.String("policy");
  config.limits.inline_bytes = options.Bytes("inline-limit");
  config.limits.chunk_bytes = options.Bytes("chunk-size");
  config.limits.credit_chunks = static_cast<int32_t>(options.Int("credits"));
  config.limits.session_tasks = options.Int("session-tasks");
  config.limits.queued_tasks = options.Int("queue-limit");
  config.limits.resume_timeout = options.Time("resume-timeout");
  config.drain_timeout = options.Time("drain-timeout");
  config.log.level = LevelByName(options.String("log-level"));
  config.log.format = options.String("log-format") == "json" ? telemetry::LogFormat::kJson
                                                             : telemetry::LogFormat::kText;
  return config;
}

}  // namespace shoal::app
