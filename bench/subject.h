#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "wire/chunk.h"

namespace shoal::bench {

using Bytes = absl::Span<std::byte>;
using ConstBytes = wire::ConstBytes;

enum class Op : uint8_t { kEcho, kApply, kPut, kGet };

/// Payload memory of a lane, where it likes it best: plane A's is already the server's.
class Memory {
 public:
  virtual ~Memory() = default;
  Bytes bytes() const { return bytes_; }

 protected:
  Bytes bytes_;
};

/// One request. Its memory stays alive and untouched until the lane has reported the call.
struct Call {
  Op op = Op::kEcho;
  /// What is sent, in order: none for kGet, one array for kEcho and kPut, one or two for kApply.
  absl::InlinedVector<const Memory*, 2> arguments = {};
  Memory* result = nullptr;  ///< Where the reply goes; null for kPut.
  int slot = 0;      ///< Which stored array, or scratch memory. Different in calls that overlap.
  bool keep = true;  ///< kEcho: false: the server need never hold the whole ("front").

  wire::Pieces request() const;
  int64_t request_bytes() const;
  Bytes reply() const { return result == nullptr ? Bytes() : result->bytes(); }
  int64_t reply_bytes() const { return static_cast<int64_t>(reply().size()); }
};

/// One caller of a subject: a connection, a channel, a session.
///
/// Thread-safety: one thread at a time.
class Lane {
 public:
  virtual ~Lane() = default;

  /// Memory for requests and replies, 64-byte aligned, every page touched. Outlives the lane.
  virtual absl::StatusOr<std::unique_ptr<Memory>> Allocate(int64_t bytes);

  /// Hands a call over, and may carry it out entirely before it returns.
  ///
  /// Errors: of the subject. The call is not in flight then, and will not be reported.
  virtual absl::Status Start(const Call& call, int64_t tag) = 0;

  /// Waits until a call in flight has ended; adds the tags of all that have to `ended`.
  ///
  /// Errors: of the first call that failed; the lane is then of no more use.
  virtual absl::Status Await(std::vector<int64_t>* ended) = 0;

  /// Forgets what kPut stored in a slot, if that costs anything to keep.
  virtual absl::Status Release(int slot);
};

/// What is measured: Shoal on one plane, or one of the ceilings it is compared with.
///
/// Thread-safety: one thread at a time; its lanes may be on threads of their own.
class Subject {
 public:
  virtual ~Subject() = default;

  /// As it stands in tables and in JSON: "shoal", "raw_tcp", "grpc_stream".
  virtual const std::string& Name() const = 0;
  /// "tcp", "unix", "memfd"; empty within this process.
  virtual const std::string& Plane() const = 0;
  /// Whether calls of `bytes` work at all.
  virtual bool Carries(Op op, int64_t bytes) const = 0;
  /// False: payloads are not really moved (a bare signal), so there is nothing to compare.
  virtual bool MovesPayload() const { return true; }
  /// Whether kApply is really applied. If not, its reply is the first bytes of the request.
  virtual bool Computes() const { return false; }
  /// Whether a lane takes a call while another is in flight. If not, Start carries out each call.
  virtual bool Overlaps() const = 0;
  /// The process that serves it; 0: this one.
  virtual pid_t ServerPid() const = 0;

  virtual absl::StatusOr<std::unique_ptr<Lane>> NewLane() = 0;

  /// Drops the memory of earlier sizes at the server. Between measurements.
  virtual absl::Status Reset() { return absl::OkStatus(); }
};

/// Heap memory, aligned and touched: what most lanes hand out.
absl::StatusOr<std::unique_ptr<Memory>> NewHeapMemory(int64_t bytes);

}  // namespace shoal::bench
