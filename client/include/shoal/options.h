#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "shoal/call.h"

namespace shoal {

/// By which way payload travels.
enum class Plane : uint8_t {
  kAuto,   ///< The best that works: leases and the Unix socket on the same host, else TCP.
  kTcp,    ///< gRPC on the address given, and nothing else.
  kUnix,   ///< gRPC on the server's Unix socket.
  kMemfd,  ///< Leases for large payloads; all else on the Unix socket.
};

/// How often, and after how long, a call is tried again.
///
/// Only what is safe to repeat: reading calls, `Apply` and `Echo` that store nothing,
/// `Redistribute`, and `Put` (which goes on where it stopped). They are repeated after UNAVAILABLE,
/// after ABORTED, and after RESOURCE_EXHAUSTED if the server says when.
struct RetryPolicy {
  int attempts_max = 5;  ///< In all, so 1 means never again.
  std::chrono::nanoseconds backoff_initial = std::chrono::milliseconds(50);
  std::chrono::nanoseconds backoff_max = std::chrono::seconds(2);
  double multiplier = 2.0;
  /// Each wait is drawn from [1 - jitter, 1 + jitter] times its nominal length.
  double jitter = 0.25;
};

struct ClientOptions {
  /// "host:port", or "unix:/path".
  std::string address = "localhost:50051";
  /// How long Connect may take.
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(5);
  /// True: Connect waits for a server that is not there yet, as long as connect_timeout.
  bool wait_for_server = false;
  Plane plane = Plane::kAuto;
  /// CRC-32C over every chunk, sent and received.
  bool checksum = true;
  /// Bytes a chunk, cut to the server's limit.
  int64_t chunk_bytes = int64_t{1} << 20;
  /// Unacknowledged chunks on one stream, cut to the server's limit. 0: that limit.
  int32_t in_flight_chunks = 0;
  RetryPolicy retry = {};
  /// For calls that give none of their own. Absent: no limit.
  std::optional<std::chrono::nanoseconds> timeout = {};
  /// Threads for asynchronous calls with large payloads; they start at the first such call.
  int async_threads = 4;
  /// Memory of dropped arrays that is kept for new ones, in this process and, again as much, in
  /// leases: a page that was touched before costs a fraction of a fresh one.
  int64_t reuse_bytes = int64_t{512} << 20;
};

/// Called in the calling thread as a transfer goes on, with bytes that the other side has, and
/// at its end.
using Progress = std::function<void(int64_t bytes_done, int64_t bytes_total)>;

struct CallOptions {
  /// Absent: ClientOptions.timeout.
  std::optional<std::chrono::nanoseconds> timeout = {};
};

struct EchoOptions {
  Route route = Route::kDefault;
  std::optional<std::chrono::nanoseconds> timeout = {};
};

struct PutOptions {
  std::string name = {};                          ///< Empty: only an id.
  std::optional<Distribution> distribution = {};  ///< Absent: block over all workers.
  bool replace = false;
  std::optional<std::chrono::nanoseconds> timeout = {};
  Progress progress = {};
};

struct GetOptions {
  std::optional<std::chrono::nanoseconds> timeout = {};
  Progress progress = {};
};

struct ListOptions {
  std::string name_prefix = {};
  std::optional<std::chrono::nanoseconds> timeout = {};
};

struct FreeOptions {
  bool missing_ok = false;  ///< True: an array that does not exist is no error.
  std::optional<std::chrono::nanoseconds> timeout = {};
};

struct SessionOptions {
  /// True: results come in the order of the tasks.
  bool ordered = false;
  /// Under load a batch leaves at this many tasks, this many bytes, or this long after its first
  /// task, whichever comes first. When idle every task leaves at once.
  int flush_tasks = 64;
  int64_t flush_bytes = 8 * 1024;
  std::chrono::nanoseconds flush_delay = std::chrono::microseconds(50);
  /// A message never carries more than this.
  int message_tasks_max = 4096;
  int64_t message_bytes_max = 256 * 1024;
  /// Tasks that wait here for a credit; beyond it Submit blocks.
  int64_t queue_tasks_max = int64_t{1} << 20;
};

}  // namespace shoal
