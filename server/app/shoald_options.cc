#include "server/app/shoald_options.h"

#include <string>
#include <vector>

#include "base/units.h"
#include "server/scheduler/placement.h"

namespace shoal::app {
namespace {

constexpr int64_t kPortMax = 65535;

std::vector<std::string> PolicyNames() {
  std::vector<std::string> names;
  for (const scheduler::PlacementPolicy& policy : scheduler::PlacementPolicies()) {
    names.emplace_back(policy.name);
  }
  return names;
}

std::vector<Option> NetworkOptions() {
  constexpr const char* kGroup = "Network";
  return {{.name = "host",
           .default_text = "127.0.0.1",
           .help = "Address to listen on",
           .value_name = "HOST",
           .group = kGroup},
          {.name = "port",
           .type = OptionType::kInt,
           .default_text = "50051",
           .help = "gRPC port; 0 picks one and prints it",
           .group = kGroup,
           .min = 0,
           .max = kPortMax},
          {.name = "cluster-port",
           .type = OptionType::kInt,
           .default_text = "50052",
           .help = "Port for worker processes (not built yet: nothing listens there)",
           .group = kGroup,
           .min = 0,
           .max = kPortMax},
          {.name = "http-port",
           .type = OptionType::kInt,
           .default_text = "8080",
           .help = "Port of /metrics, /healthz and /readyz; 0 picks one, -1 is none",
           .group = kGroup,
           .min = -1,
           .max = kPortMax},
          {.name = "unix-socket",
           .type = OptionType::kBool,
           .default_text = "true",
           .help = "Also serve clients of this host over Unix sockets and shared memory",
           .group = kGroup},
          {.name = "socket-dir",
           .help = "Where those sockets are made; default: a private directory",
           .value_name = "DIR",
           .group = kGroup,
           .names_a_file = true},
          {.name = "insecure",
           .type = OptionType::kBool,
           .help = "Allow an address that is not loopback, though there is no TLS yet",
           .group = kGroup}};
}

std::vector<Option> WorkerOptions() {
  constexpr const char* kGroup = "Workers";
  return {
      {.name = "backend",
       .type = OptionType::kEnum,
       .default_text = "auto",
       .help = "Which devices compute",
       .choices = {"auto", "cpu", "cuda"},
       .group = kGroup},
      {.name = "workers",
       .type = OptionType::kInt,
       .default_text = "0",
       .help = "Embedded workers; 0: one a core, up to 4",
       .group = kGroup,
       .min = 0,
       .max = 256},
      {.name = "threads",
       .type = OptionType::kInt,
       .default_text = "0",
       .help = "Threads of each worker; 0: the cores shared out",
       .group = kGroup,
       .min = 0,
       .max = 1024},
      {.name = "memory-limit",
       .default_text = "80%",
       .help =
           "Payload memory of the whole service: bytes (8GiB), or a part of the machine's (80%)",
       .value_name = "SIZE",
       .group = kGroup},
      {.name = "policy",
       .type = OptionType::kEnum,
       .default_text = std::string(scheduler::PlacementPolicies().front().name),
       .help = "How tasks are placed",
       .choices = PolicyNames(),
       .group = kGroup}};
}

std::vector<Option> LimitOptions() {
  constexpr const char* kGroup = "Limits";
  return {{.name = "inline-limit",
           .type = OptionType::kBytes,
           .default_text = "256KiB",
           .help = "Payload bytes in a unary message",
           .group = kGroup,
           .min = 0,
           .max = 3 * kMiB},
          {.name = "chunk-size",
           .type = OptionType::kBytes,
           .default_text = "1MiB",
           .help = "The largest chunk of a stream",
           .group = kGroup,
           .min = 4 * kKiB,
           .max = 16 * kMiB},
          {.name = "credits",
           .type = OptionType::kInt,
           .default_text = "8",
           .help = "Chunks a client may have unacknowledged",
           .group = kGroup,
           .min = 1,
           .max = 1024},
          {.name = "session-tasks",
           .type = OptionType::kInt,
           .default_text = "65536",
           .help = "Tasks in flight on one session",
           .group = kGroup,
           .min = 1,
           .max = 1 << 24},
          {.name = "queue-limit",
           .type = OptionType::kInt,
           .default_text = "1000000",
           .help = "Pieces of tasks that may wait in all; a small task is one",
           .group = kGroup,
           .min = 1},
          {.name = "connection-limit",
           .type = OptionType::kInt,
           .default_text = "0",
           .help = "gRPC connections at once; 0: half of the descriptors, up to 16384",
           .group = kGroup,
           .min = 0,
           .max = 1 << 20},
          {.name = "resume-timeout",
           .type = OptionType::kDuration,
           .default_text = "60s",
           .help = "How long a broken-off upload is kept",
           .group = kGroup},
          {.name = "drain-timeout",
           .type = OptionType::kDuration,
           .default_text = "30s",
           .help = "After SIGTERM, how long calls may go on",
           .group = kGroup}};
}

std::vector<Option> LogOptions() {
  constexpr const char* kGroup = "Logging";
  return {{.name = "log-level",
           .type = OptionType::kEnum,
           .default_text = "info",
           .help = "The least important line that is written",
           .choices = {"debug", "info", "warning", "error"},
           .group = kGroup},
          {.name = "log-format",
           .type = OptionType::kEnum,
           .default_text = "text",
           .help = "How lines look",
           .choices = {"text", "json"},
           .group = kGroup}};
}

OptionTable MakeTable() {
  OptionTable table;
  table.name = "shoald";
  table.summary = "Applies functions to arrays on every device of this machine, over gRPC.";
  for (const auto& options : {NetworkOptions(), WorkerOptions(), LimitOptions(), LogOptions()}) {
    table.options.insert(table.options.end(), options.begin(), options.end());
  }
  table.examples = {"shoald", "shoald --port 0 --workers 2 --threads 1",
                    "shoald --memory-limit 8GiB --log-format json"};
  return table;
}

}  // namespace

const OptionTable& ShoaldOptions() {
  static const OptionTable& table = *new OptionTable(MakeTable());
  return table;
}

}  // namespace shoal::app
