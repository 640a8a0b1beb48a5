#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace shoal::wire {

/// The protocol of the lease socket (plane A): a Unix stream socket on which a client asks for
/// memory that it and the server have both mapped.
///
/// Each request is one fixed frame, answered by one fixed frame, in order. A granted lease's answer
/// carries one descriptor: a memfd sealed against shrinking and growing. All leases of a connection
/// end with the connection. Little-endian; nothing of it is ever read from shared memory.
struct LeaseRequest {
  enum class Kind : uint32_t {
    kAcquire = 1,  ///< `value`: bytes wanted, at least 1.
    kRelease = 2,  ///< `value`: the lease's id. Bytes still in use are freed after their last use.
  };
  Kind kind = Kind::kAcquire;
  uint64_t value = 0;
};

struct LeaseReply {
  uint32_t code = 0;  ///< A canonical status code; 0 is OK.
  uint64_t lease_id = 0;
  uint64_t token = 0;      ///< The secret that LeaseRef must carry.
  uint64_t bytes = 0;      ///< Size of the region; at least what was asked for.
  uint64_t needed = 0;     ///< With RESOURCE_EXHAUSTED: bytes asked for,
  uint64_t available = 0;  ///< and bytes that there are.
};

inline constexpr size_t kLeaseRequestBytes = 16;
inline constexpr size_t kLeaseReplyBytes = 48;

std::array<std::byte, kLeaseRequestBytes> EncodeLeaseRequest(const LeaseRequest& request);
std::array<std::byte, kLeaseReplyBytes> EncodeLeaseReply(const LeaseReply& reply);

/// Errors:
///   INVALID_ARGUMENT  wrong magic number, unknown kind.
absl::StatusOr<LeaseRequest> DecodeLeaseRequest(
    const std::array<std::byte, kLeaseRequestBytes>& frame);
absl::StatusOr<LeaseReply> DecodeLeaseReply(const std::array<std::byte, kLeaseReplyBytes>& frame);

/// Writes a whole frame to a Unix socket, passing `descriptor` along unless it is -1.
///
/// Blocks as the socket does. Errors: UNAVAILABLE  the peer is gone.
absl::Status SendFrame(int socket, absl::Span<const std::byte> frame, int descriptor);

/// Reads a whole frame; returns the descriptor that came with it (the caller closes it), or -1.
///
/// More descriptors than one are closed and refused.
///
/// Errors:
///   UNAVAILABLE       the peer closed before a whole frame had come.
///   INVALID_ARGUMENT  it sent more than one descriptor.
absl::StatusOr<int> ReceiveFrame(int socket, absl::Span<std::byte> frame);

}  // namespace shoal::wire
