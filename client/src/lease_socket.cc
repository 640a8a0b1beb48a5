#include "client/src/lease_socket.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "wire/lease_protocol.h"

namespace shoal::internal {
namespace {

// A server that takes longer to answer 48 bytes is counted as gone.
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

absl::Status ReplyError(const wire::LeaseReply& reply) {
  return absl::Status(static_cast<absl::StatusCode>(reply.code),
                      absl::StrCat("lease refused: ", reply.needed, " bytes needed, ",
                                   reply.available, " available"));
}

/// Maps a descriptor that must be a memfd which nobody can shrink: reading beyond a shrunken file
/// would kill this process.
absl::StatusOr<std::byte*> MapSealed(int descriptor, uint64_t bytes) {
  const int seals = fcntl(descriptor, F_GET_SEALS);
  struct stat facts {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(descriptor, &facts) != 0 ||
      static_cast<uint64_t>(facts.st_size) < bytes) {
    return absl::FailedPreconditionError("lease socket: memory that is not sealed, or too small");
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("mmap of a lease: ", strerror(errno)));
  }
  return static_cast<std::byte*>(data);
}

}  // namespace

absl::StatusOr<LeaseSocket> LeaseSocket::Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::UnavailableError("lease socket: the path is too long");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return absl::UnavailableError(absl::StrCat("socket: ", strerror(errno)));
  LeaseSocket lease_socket(descriptor);
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::UnavailableError(absl::StrCat("lease socket ", path, ": ", strerror(errno)));
  }
  return lease_socket;
}

LeaseSocket::LeaseSocket(LeaseSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

LeaseSocket::~LeaseSocket() { Close(); }

void LeaseSocket::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

absl::StatusOr<Lease> LeaseSocket::Acquire(int64_t bytes, Touch touch) {
  if (descriptor_ < 0) return absl::UnavailableError("lease socket: closed");
  const auto request = wire::EncodeLeaseRequest(
      {.kind = wire::LeaseRequest::Kind::kAcquire, .value = static_cast<uint64_t>(bytes)});
  std::array<std::byte, wire::kLeaseReplyBytes> frame{};
  const absl::Status sent = wire::SendFrame(descriptor_, request, -1);
  const absl::StatusOr<int> received =
      sent.ok() ? wire::ReceiveFrame(descriptor_, absl::MakeSpan(frame)) : sent;
  const absl::StatusOr<wire::LeaseReply> reply = wire::DecodeLeaseReply(frame);
  if (!received.ok() || !reply.ok()) {
    // Half a reply may be on its way: no later one could be told from it.
    if (received.ok() && *received >= 0) close(*received);
    Close();
    return received.ok() ? reply.status() : received.status();
  }
  const int memory = *received;
  if (reply->code != 0) {
    if (memory >= 0) close(memory);
    return ReplyError(*reply);
  }
  absl::StatusOr<std::byte*> data =
      reply->bytes >= static_cast<uint64_t>(bytes)
          ? MapSealed(memory, reply->bytes)
          : absl::FailedPreconditionError("lease socket: less memory than asked for");
  if (memory >= 0) close(memory);
  if (!data.ok()) {
    Close();
    return data.status();
  }
  // Advice only: a kernel that does not know it takes the faults one by one.
  if (touch == Touch::kAll) madvise(*data, reply->bytes, MADV_POPULATE_WRITE);
  return Lease{reply->lease_id, reply->token, *data, static_cast<int64_t>(reply->bytes)};
}

void LeaseSocket::Release(const Lease& lease) {
  Unmap(lease);
  if (descriptor_ < 0) return;
  const auto request =
      wire::EncodeLeaseRequest({.kind = wire::LeaseRequest::Kind::kRelease, .value = lease.id});
  std::array<std::byte, wire::kLeaseReplyBytes> frame{};
  if (!wire::SendFrame(descriptor_, request, -1).ok() ||
      !wire::ReceiveFrame(descriptor_, absl::MakeSpan(frame)).ok()) {
    Close();
  }
}

bool LeaseSocket::alive() {
  if (descriptor_ < 0) return false;
  char byte = 0;
  const ssize_t peeked = recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // Between requests there is nothing to read, so anything else means the end.
  if (peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return true;
  Close();
  return false;
}

void LeaseSocket::Unmap(const Lease& lease) {
  munmap(lease.data, static_cast<size_t>(lease.bytes));
}

}  // namespace shoal::internal
