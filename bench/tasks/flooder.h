#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "bench/shoal/server.h"
#include "bench/subject.h"

namespace shoal::bench {

/// What a flood cost, where only the flooder can know.
struct FloodUsage {
  Duration client_cpu{};
  Duration server_cpu{};
  int64_t peak_rss_bytes = 0;  ///< Of all processes that serve, each at its own peak.
};

/// What a flood of tasks came to.
struct FloodResult {
  Duration sent{};       ///< First submit to return of the last submit.
  Duration roundtrip{};  ///< First submit to last result.
  /// Of each task, from its submit to its result. Empty where nobody looked.
  std::vector<Duration> latencies;
  int64_t wrong = 0;  ///< Tasks that failed, or ended not exactly once, or with a wrong reply.
  /// Empty: this process is the client, and ServerPid() the server.
  std::optional<FloodUsage> usage;
};

/// One way to send many tiny tasks.
///
/// Thread-safety: one thread at a time.
class Flooder {
 public:
  virtual ~Flooder() = default;
  /// As it stands in tables: "shoal", "grpc_unary", "grpc_messages", "dask".
  virtual const std::string& Name() const = 0;
  /// "one_by_one", "batched", "alone".
  virtual const std::string& Mode() const = 0;
  virtual pid_t ServerPid() const = 0;
  /// Most tasks it is worth waiting for.
  virtual int64_t CountMax() const = 0;

  /// Not ours and not gRPC: whatever its mode, its rate is compared with, and the others are
  /// measured without it once it has failed.
  virtual bool IsPeer() const { return false; }
  /// Version and way of working of a peer.
  virtual std::string About() const { return ""; }

  virtual absl::StatusOr<FloodResult> Flood(int64_t count) = 0;
};

struct SessionFlooderOptions {
  std::string plane = "tcp";
  std::string mode = "one_by_one";
  int64_t batch = 1000;  ///< Tasks handed over at once, with mode "batched".
  int64_t count_max = INT64_MAX;
};

/// Empty tasks (op "echo" of nothing) through a new session of a client for each flood. `server`
/// outlives the flooder.
///
/// Errors: of the connection.
absl::StatusOr<std::unique_ptr<Flooder>> NewSessionFlooder(const Server* server,
                                                           const SessionFlooderOptions& options);

struct CallFlooderOptions {
  std::string ceiling;  ///< "grpc_unary" or "grpc_messages".
  std::string plane = "tcp";
  std::string mode = "one_by_one";
  int in_flight = 64;
  int64_t bytes = 16;  ///< Of random payload each way.
  int64_t count_max = INT64_MAX;
};

/// A bare gRPC call, or message, a task.
absl::StatusOr<std::unique_ptr<Flooder>> NewCallFlooder(const CallFlooderOptions& options);

}  // namespace shoal::bench
