#include "server/app/config.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "base/units.h"

namespace shoal::app {
namespace {

constexpr int64_t kPortMax = 65535;

OptionTable MakeTable() {
  const std::string network = "Network";
  const std::string compute = "Workers";
  const std::string limits = "Limits";
  const std::string logging = "Logging";
  OptionTable table;
  table.name = "shoald";
  table.summary = "Applies functions to arrays on every device of this machine, over gRPC.";
  table.options = {
      {.name = "host",
       .default_text = "127.0.0.1",
       .help = "Address to listen on",
       .value_name = "HOST",
       .group = network},
      {.name = "port",
       .type = OptionType::kInt,
       .default_text = "50051",
       .help = "gRPC port; 0 picks one and prints it",
       .group = network,
       .min = 0,
       .max = kPortMax},
      {.name = "cluster-port",
       .type = OptionType::kInt,
       .default_text = "50052",
       .help = "Port for worker processes (not built yet: nothing listens there)",
       .group = network,
       .min = 0,
       .max = kPortMax},
      {.name = "http-port",
       .type = OptionType::kInt,
       .default_text = "8080",
       .help = "Port of /metrics, /healthz and /readyz; 0 picks one, -1 is none",
       .group = network,
       .min = -1,
       .max = kPortMax},
      {.name = "unix-socket",
       .type = OptionType::kBool,
       .default_text = "true",
       .help = "Also serve clients of this host over Unix sockets and shared memory",
       .group = network},
      {.name = "socket-dir",
       .help = "Where those sockets are made; default: a private directory",
       .value_name = "DIR",
       .group = network,
       .names_a_file = true},
      {.name = "insecure",
       .type = OptionType::kBool,
       .help = "Allow an address that is not loopback, though there is no TLS yet",
       .group = network},
      {.name = "backend",
       .type = OptionType::kEnum,
       .default_text = "auto",
       .help = "Which devices compute",
       .choices = {"auto", "cpu", "cuda"},
       .group = compute},
      {.name = "workers",
       .type = OptionType::kInt,
       .default_text = "0",
       .help = "Embedded workers; 0: one a core, up to 4",
       .group = compute,
       .min = 0,
       .max = 256},
      {.name = "threads",
       .type = OptionType::kInt,
       .default_text = "0",
       .help = "Threads of each worker; 0: the cores shared out",
       .group = compute,
       .min = 0,
       .max = 1024},
      {.name = "memory-limit",
       .default_text = "80%",
       .help =
           "Payload memory of the whole service: bytes (8GiB), or a part of the machine's (80%)",
       .value_name = "SIZE",
       .group = compute},
      {.name = "policy",
       .type = OptionType::kEnum,
       .default_text = "least_load",
       .help = "How tasks are placed",
       .choices = {"least_load"},
       .group = compute},
      {.name = "inline-limit",
       .type = OptionType::kBytes,
       .default_text = "256KiB",
       .help = "Payload bytes in a unary message",
       .group = limits,
       .min = 0,
       .max = 3 * kMiB},
      {.name = "chunk-size",
       .type = OptionType::kBytes,
       .default_text = "1MiB",
       .help = "The largest chunk of a stream",
       .group = limits,
       .min = 4 * kKiB,
       .max = 16 * kMiB},
      {.name = "credits",
       .type = OptionType::kInt,
       .default_text = "8",
       .help = "Chunks a client may have unacknowledged",
       .group = limits,
       .min = 1,
       .max = 1024},
      {.name = "session-tasks",
       .type = OptionType::kInt,
       .default_text = "65536",
       .help = "Tasks in flight on one session",
       .group = limits,
       .min = 1,
       .max = 1 << 24},
      {.name = "queue-limit",
       .type = OptionType::kInt,
       .default_text = "1000000",
       .help = "Tasks that may wait in all",
       .group = limits,
       .min = 1},
      {.name = "resume-timeout",
       .type = OptionType::kDuration,
       .default_text = "60s",
       .help = "How long a broken-off upload is kept",
       .group = limits},
      {.name = "drain-timeout",
       .type = OptionType::kDuration,
       .default_text = "30s",
       .help = "After SIGTERM, how long calls may go on",
       .group = limits},
      {.name = "log-level",
       .type = OptionType::kEnum,
       .default_text = "info",
       .help = "The least important line that is written",
       .choices = {"debug", "info", "warning", "error"},
       .group = logging},
      {.name = "log-format",
       .type = OptionType::kEnum,
       .default_text = "text",
       .help = "How lines look",
       .choices = {"text", "json"},
       .group = logging},
  };
  table.examples = {"shoald", "shoald --port 0 --workers 2 --threads 1",
                    "shoald --memory-limit 8GiB --log-format json"};
  return table;
}

absl::StatusOr<int64_t> MemoryLimit(const std::string& text, int64_t machine_bytes) {
  absl::string_view number = text;
  if (!absl::ConsumeSuffix(&number, "%")) return ParseBytes(text);
  double percent = 0;
  if (!absl::SimpleAtod(number, &percent) || !(percent > 0 && percent <= 100)) {
    return absl::InvalidArgumentError(absl::StrCat("--memory-limit: '", text, "' is not a part"));
  }
  return static_cast<int64_t>(static_cast<double>(machine_bytes) * percent / 100);
}

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || absl::StartsWith(host, "127.");
}

/// The memory limit of this process's control group, if it is below the machine's.
int64_t ControlGroupLimit(int64_t machine_bytes) {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  int64_t limit = 0;
  return file >> limit ? std::min(limit, machine_bytes) : machine_bytes;
}

telemetry::LogLevel LevelByName(const std::string& name) {
  if (name == "debug") return telemetry::LogLevel::kDebug;
  if (name == "warning") return telemetry::LogLevel::kWarning;
  if (name == "error") return telemetry::LogLevel::kError;
  return telemetry::LogLevel::kInfo;
}

}  // namespace

const OptionTable& ShoaldOptions() {
  static const OptionTable& table = *new OptionTable(MakeTable());
  return table;
}

Machine ThisMachine() {
  Machine machine;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) machine.cores = CPU_COUNT(&allowed);
  machine.memory_bytes =
      ControlGroupLimit(int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)});
  return machine;
}

absl::StatusOr<Config> MakeConfig(const ParsedOptions& options, const Machine& machine) {
  Config config;
  config.host = options.String("host");
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
  if (config.workers == 0) config.workers = std::min(machine.cores, 4);
  config.threads = static_cast<int>(options.Int("threads"));
  if (config.threads == 0) config.threads = std::max(1, machine.cores / config.workers);
  SHOAL_ASSIGN_OR_RETURN(config.memory_limit_bytes,
                         MemoryLimit(options.String("memory-limit"), machine.memory_bytes));
  constexpr int64_t kMemoryMin = 64 * kMiB;
  if (config.memory_limit_bytes < kMemoryMin) {
    return absl::InvalidArgumentError("--memory-limit: less than 64 MiB");
  }
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
