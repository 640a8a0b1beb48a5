#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/call.h"

namespace shoal {

/// What the server takes. Larger requests are refused; the client cuts its streams to fit.
struct ServerLimits {
  int64_t inline_bytes = 0;                    ///< Payload of a unary message.
  int64_t chunk_bytes = 0;                     ///< The largest chunk of a stream.
  int64_t message_bytes = 0;                   ///< The largest message of any kind.
  int32_t credit_chunks = 0;                   ///< Unacknowledged chunks on one stream.
  int32_t rank = 0;                            ///< Axes of an array.
  int64_t session_tasks = 0;                   ///< Tasks in flight on one session.
  int64_t queued_tasks = 0;                    ///< Pieces that may wait in all.
  std::chrono::nanoseconds resume_timeout{0};  ///< How long an interrupted Put may be resumed.
  int32_t arguments = 0;                       ///< Arguments a call.
  int64_t lease_bytes = 0;                     ///< The largest lease.
};

struct DataPlanes {
  std::string unix_socket = {};   ///< gRPC for clients on the same host. Empty: none.
  std::string lease_socket = {};  ///< Hands out leases. Empty: none.
  std::string host_id = {};       ///< Equal to the client's own: both share a host.
};

struct OpParam {
  std::string name = {};
  std::string doc = {};
};

/// What an op gives, as far as its arguments alone tell.
enum class OpOutput : uint8_t {
  kUnknown = 0,
  kEachArgument = 1,   ///< An output for each argument, equal to it in dtype and shape.
  kLikeArguments = 2,  ///< One; of the arguments' dtype and shape where these all agree.
  kScalar = 3,         ///< One, of one element.
};

struct OpInfo {
  std::string name = {};
  std::string doc = {};
  int32_t arguments_min = 0;
  int32_t arguments_max = 0;
  std::vector<OpParam> params = {};
  std::vector<Dtype> dtypes = {};          ///< Of the arguments.
  std::vector<std::string> backends = {};  ///< "cpu", "cuda".
  OpOutput output = OpOutput::kUnknown;
};

struct ServerInfo {
  std::string version = {};
  std::string instance_id = {};  ///< Changes with every start of the server.
  ServerLimits limits = {};
  DataPlanes planes = {};
  std::vector<OpInfo> ops = {};
  int32_t worker_count = 0;
  std::string backend = {};
  std::chrono::nanoseconds uptime{0};
  bool draining = false;
};

struct WorkerInfo {
  enum class State : uint8_t { kUnknown, kReady, kDraining, kLost };
  int32_t id = 0;
  State state = State::kUnknown;
  std::string backend = {};
  std::string device = {};  ///< "cpu, 1 thread".
  int32_t threads = 0;
  int64_t memory_limit_bytes = 0;
  int64_t memory_used_bytes = 0;
  int64_t memory_peak_bytes = 0;
  int64_t array_count = 0;
  int64_t running_count = 0;   ///< Attempts under way.
  int64_t finished_count = 0;  ///< Attempts that have ended, well or not.
  int64_t failed_count = 0;    ///< Of those, the ones that failed; given up is not failed.
  uint64_t incarnation = 0;
  std::string address = {};  ///< Empty: embedded in the front end.
};

struct WorkerList {
  std::vector<WorkerInfo> workers = {};
  int64_t queued_count = 0;  ///< Pieces of tasks that wait for a worker.
};

/// One shard of a stored array: the elements [begin, end) in C order.
struct Shard {
  int32_t worker = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

/// A stored array.
struct ArrayInfo {
  uint64_t id = 0;
  std::string name = {};  ///< Empty: none.
  Dtype dtype = Dtype::kUint8;
  Shape shape = {};
  Distribution distribution = {};
  std::vector<Shard> shards = {};  ///< In rank order, empty ones included.
  int64_t bytes = 0;               ///< Replicas are not counted twice.
  bool complete = false;           ///< False: a Put is under way, or was interrupted.
  int64_t acknowledged_bytes = 0;
};

/// Calls of one op, route, plane and size class, as the server measured them.
struct ThroughputRow {
  std::string op = {};
  Route route = Route::kDefault;
  std::string plane = {};  ///< "inline", "stream", "lease", "session".
  int64_t bytes_min = 0;   ///< The class holds payloads in [bytes_min, 2 x bytes_min).
  int64_t call_count = 0;
  int64_t failed_count = 0;
  int64_t bytes_in = 0;   ///< Of arguments that callers brought, in leases too.
  int64_t bytes_out = 0;  ///< Of outputs that they were given, in leases too.
  double bytes_per_second = 0;
  std::chrono::nanoseconds p50{0};
  std::chrono::nanoseconds p90{0};
  std::chrono::nanoseconds p99{0};
  std::chrono::nanoseconds max{0};
  Timing time = {};  ///< Summed over the calls.
};

struct ThroughputReport {
  std::vector<ThroughputRow> rows = {};  ///< By op, route, plane and size.
  std::chrono::nanoseconds uptime{0};
};

}  // namespace shoal
