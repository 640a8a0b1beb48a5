#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/options.h"
#include "base/time.h"
#include "server/runtime/engine.h"
#include "server/telemetry/log.h"

namespace shoal::app {

/// What shoald was told, checked.
struct Config {
  std::string host;  ///< A name or an address, IPv6 without brackets.
  int port = 0;
  int http_port = 0;
  bool unix_socket = true;
  std::string socket_dir;  ///< Empty: a new one in the temporary directory.
  int workers = 0;
  int threads = 0;  ///< Of each worker.
  int64_t memory_limit_bytes = 0;
  int64_t connections_max = 16384;  ///< Of gRPC, over TCP and Unix sockets together.
  int64_t lease_connections_max = 1024;
  int64_t leases_max = 16384;
  std::string policy;
  runtime::Limits limits;
  Duration drain_timeout{};
  telemetry::Logger::Options log;
};

/// "127.0.0.1:80", "[::1]:80".
std::string HostAndPort(const std::string& host, int port);

/// What this process may use of the machine, for defaults: cores of its affinity mask, memory of
/// its control group.
struct Machine {
  int cores = 1;
  int64_t memory_bytes = 0;
  int64_t descriptors = 1024;  ///< That this process may have open.
};
Machine ThisMachine();

/// Lifts this process's limit of descriptors as far as it may; the usual 1024 is there for programs
/// that use select(2).
void RaiseDescriptorLimit();

/// Checks the options and fills in what they leave to the machine.
///
/// Errors:
///   INVALID_ARGUMENT     values that do not go together, or an address that is not loopback
///                        without --insecure.
///   FAILED_PRECONDITION  a backend that is not built in.
absl::StatusOr<Config> MakeConfig(const ParsedOptions& options, const Machine& machine);

}  // namespace shoal::app
