#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace shoal::internal {

/// Memory that the server has mapped too.
struct Lease {
  uint64_t id = 0;
  uint64_t token = 0;
  std::byte* data = nullptr;
  int64_t bytes = 0;
};

/// The client's end of the lease socket (wire/lease_protocol.h). When it closes, the server forgets
/// all its leases; what is mapped here stays mapped until `Unmap`.
///
/// Thread-safety: one thread at a time.
class LeaseSocket {
 public:
  /// Errors: UNAVAILABLE  nobody listens there.
  static absl::StatusOr<LeaseSocket> Connect(const std::string& path);

  LeaseSocket(LeaseSocket&& other) noexcept;
  LeaseSocket& operator=(LeaseSocket&&) = delete;
  ~LeaseSocket();

  enum class Touch { kAll, kNone };

  /// Borrows at least `bytes` >= 1 bytes and maps them; with kAll, with all their pages at once,
  /// which is cheaper than one by one.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED   the server, or this process, has not that much.
  ///   UNAVAILABLE          the server is gone, or silent for seconds: the socket is closed now.
  ///   FAILED_PRECONDITION  it sent memory that it could shrink under us; likewise.
  absl::StatusOr<Lease> Acquire(int64_t bytes, Touch touch);

  /// Gives a lease back and unmaps it, whether or not the server can still be told.
  void Release(const Lease& lease);

  /// False once the server has closed its end. A look without waiting.
  bool alive();

  static void Unmap(const Lease& lease);

 private:
  explicit LeaseSocket(int descriptor) : descriptor_(descriptor) {}
  void Close();

  int descriptor_;
};

}  // namespace shoal::internal
