#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "shoal/array.h"
#include "shoal/call.h"
#include "shoal/info.h"
#include "shoal/options.h"
#include "shoal/session.h"
#include "shoal/status.h"

namespace shoal {

namespace internal {
class ClientCore;
}  // namespace internal

/// Called once with what an asynchronous call came to, in a thread of the Client's; in the calling
/// one, with RESOURCE_EXHAUSTED, if the system has no thread for it. It must not block for long and
/// must not destroy the Client.
template <typename T>
using Callback = absl::AnyInvocable<void(absl::StatusOr<T>) &&>;

/// A connection to a Shoal server.
///
/// Every call comes to the server's answer or to an error with the server's code and message (see
/// shoal/status.h for the details), at the latest at its timeout. Arrays of any size may be passed:
/// the Client sends small ones within the request, large ones in chunks, and leaves those that lie
/// in a lease where they are. It finds out by itself whether the server shares its host.
///
/// Errors of all calls, beside their own:
///   UNAVAILABLE        no server there, or it is draining; retries are used up. One that has gone
///                      without a word is noticed within 40 s, whatever the timeout.
///   DEADLINE_EXCEEDED  the timeout has passed.
///   CANCELLED          the Client was destroyed (asynchronous calls only).
///
/// Thread-safety: all methods, from any thread.
/// Lifetime: arrays and sessions outlive it. The destructor cancels asynchronous calls and waits
///   for their callbacks; no synchronous call may be under way.
/// Fork: a child process must not use, nor destroy, a Client of its parent's (leave with _exit or
///   exec); it connects anew. Leased arrays of the parent's stay readable there, and are shared.
///
///     absl::StatusOr<std::unique_ptr<shoal::Client>> client = shoal::Client::Connect();
///     if (!client.ok()) return client.status();
///     absl::StatusOr<shoal::Result> sum = (*client)->Apply({.op = "sum", .arguments = {x}});
class Client {
 public:
  /// Errors:
  ///   UNAVAILABLE          nobody answers at the address.
  ///   DEADLINE_EXCEEDED    nobody answered in time.
  ///   INVALID_ARGUMENT     an option out of range, an address without a port.
  ///   FAILED_PRECONDITION  the plane asked for does not work with this server.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const ClientOptions& options = {});

  explicit Client(std::unique_ptr<internal::ClientCore> core);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// What the server said when the Client connected.
  const ServerInfo& info() const;
  /// The plane that large payloads take: kTcp, kUnix or kMemfd.
  Plane plane() const;

  /// An array to be filled and passed to calls: in a lease if there is a plane for it (then its
  /// bytes are never copied), else in plain memory. Contents are unspecified.
  ///
  /// Errors: as Array::Create.
  absl::StatusOr<Array> Allocate(Dtype dtype, Shape shape);

  /// Returns the payload from the server, of any size.
  absl::StatusOr<Array> Echo(const Array& payload, const EchoOptions& options = {});
  /// The same, into `reply`: writable, and of the payload's byte count.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  `reply` is not.
  absl::Status EchoInto(const Array& payload, Array& reply, const EchoOptions& options = {});

  /// Applies an op to arrays.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    wrong parameters, arguments or shapes.
  ///   UNIMPLEMENTED       no such op, or not for this dtype.
  ///   NOT_FOUND           a stored array does not exist.
  ///   ALREADY_EXISTS      the name of a `Store` is taken.
  ///   RESOURCE_EXHAUSTED  queue full, or more memory than there is.
  ///   ABORTED             a worker was lost; safe to call again.
  absl::StatusOr<Result> Apply(const Call& call);

  /// Stores an array. If the stream breaks or a chunk is damaged, goes on where it stopped.
  ///
  /// Errors:
  ///   ALREADY_EXISTS      the name is taken and `replace` is false.
  ///   RESOURCE_EXHAUSTED  no worker has that much memory.
  ///   NOT_FOUND           the server forgot the interrupted array before it could be resumed.
  absl::StatusOr<ArrayInfo> Put(const Array& array, const PutOptions& options = {});

  /// Fetches a stored array. If the stream breaks, goes on where it stopped.
  ///
  /// Errors:
  ///   NOT_FOUND            no such array.
  ///   FAILED_PRECONDITION  it is not complete yet.
  ///   DATA_LOSS            a chunk was damaged on every attempt.
  absl::StatusOr<Array> Get(const ArrayRef& reference, const GetOptions& options = {});
  /// The same, into `bytes`, which must be exactly as long as the array.
  ///
  /// Errors: as Get, and INVALID_ARGUMENT for a wrong length (the needed one is in the message).
  absl::StatusOr<ArrayInfo> GetInto(const ArrayRef& reference, absl::Span<std::byte> bytes,
                                    const GetOptions& options = {});

  /// Errors: NOT_FOUND.
  absl::StatusOr<ArrayInfo> Describe(const ArrayRef& reference, const CallOptions& options = {});

  /// All stored arrays, by id, fetched page by page.
  absl::StatusOr<std::vector<ArrayInfo>> List(const ListOptions& options = {});

  /// Forgets arrays, all or none; returns the bytes that became free.
  ///
  /// Errors:
  ///   NOT_FOUND            one does not exist, unless `missing_ok`.
  ///   FAILED_PRECONDITION  one is in use.
  absl::StatusOr<int64_t> Free(absl::Span<const ArrayRef> references,
                               const FreeOptions& options = {});

  /// Lays an array out differently over the workers.
  ///
  /// Errors:
  ///   NOT_FOUND            no such array or worker.
  ///   FAILED_PRECONDITION  it is in use.
  ///   RESOURCE_EXHAUSTED   a worker has no room for its new shard.
  absl::StatusOr<ArrayInfo> Redistribute(const ArrayRef& reference,
                                         const Distribution& distribution,
                                         const CallOptions& options = {});

  absl::StatusOr<WorkerList> ListWorkers(const CallOptions& options = {});
  /// What the server says now.
  absl::StatusOr<ServerInfo> FetchInfo(const CallOptions& options = {});
  /// What the server measured; of one op, or (empty) of all.
  absl::StatusOr<ThroughputReport> Throughput(const std::string& op = "",
                                              const CallOptions& options = {});
  /// Makes the server take no more work; returns when it has none left.
  absl::Status Drain(const CallOptions& options = {});

  // The same, without waiting: `done` is called in a thread of the Client's (see Callback).
  // Arrays that are borrowed must live until then.
  void EchoAsync(Array payload, EchoOptions options, Callback<Array> done);
  void ApplyAsync(Call call, Callback<Result> done);
  void PutAsync(Array array, PutOptions options, Callback<ArrayInfo> done);
  void GetAsync(ArrayRef reference, GetOptions options, Callback<Array> done);

  /// Opens a stream for many small tasks. An error of the server's shows at the first use.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT    an option out of range.
  ///   RESOURCE_EXHAUSTED  the system has no thread for it.
  absl::StatusOr<std::unique_ptr<Session>> OpenSession(const SessionOptions& options = {});

 private:
  std::unique_ptr<internal::ClientCore> core_;
};

}  // namespace shoal
