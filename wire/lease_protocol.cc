#include "wire/lease_protocol.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace shoal::wire {
namespace {

constexpr uint32_t kMagic = 0x314C4853;  // "SHL1".
constexpr int kDescriptorsMax = 4;       // Room to notice, and close, what nobody asked for.

template <typename T>
void Store(std::byte* at, T value) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  std::memcpy(at, &value, sizeof(value));
}

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

absl::Status PeerGone(absl::string_view doing) {
  return absl::UnavailableError(absl::StrCat("lease socket: ", doing, ": ", strerror(errno)));
}

/// Takes the descriptors out of a message: the first, or -1; closes all if there are several.
absl::StatusOr<int> TakeDescriptor(msghdr* message) {
  int first = -1;
  int count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t bytes = part->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof(int));
      if (++count == 1) {
        first = descriptor;
      } else {
        close(descriptor);
      }
    }
  }
  if (count <= 1) return first;
  close(first);
  return absl::InvalidArgumentError("lease socket: more than one descriptor in a message");
}

}  // namespace

std::array<std::byte, kLeaseRequestBytes> EncodeLeaseRequest(const LeaseRequest& request) {
  std::array<std::byte, kLeaseRequestBytes> frame{};
  Store(frame.data(), kMagic);
  Store(frame.data() + 4, static_cast<uint32_t>(request.kind));
  Store(frame.data() + 8, request.value);
  return frame;
}

std::array<std::byte, kLeaseReplyBytes> EncodeLeaseReply(const LeaseReply& reply) {
  std::array<std::byte, kLeaseReplyBytes> frame{};
  Store(frame.data(), kMagic);
  Store(frame.data() + 4, reply.code);
  Store(frame.data() + 8, reply.lease_id);
  Store(frame.data() + 16, reply.token);
  Store(frame.data() + 24, reply.bytes);
  Store(frame.data() + 32, reply.needed);
  Store(frame.data() + 40, reply.available);
  return frame;
}

absl::StatusOr<LeaseRequest> DecodeLeaseRequest(
    const std::array<std::byte, kLeaseRequestBytes>& frame) {
  if (Load<uint32_t>(frame.data()) != kMagic) {
    return absl::InvalidArgumentError("lease socket: not a lease request");
  }
  const auto kind = Load<uint32_t>(frame.data() + 4);
  if (kind != static_cast<uint32_t>(LeaseRequest::Kind::kAcquire) &&
      kind != static_cast<uint32_t>(LeaseRequest::Kind::kRelease)) {
    return absl::InvalidArgumentError(absl::StrCat("lease socket: unknown request kind ", kind));
  }
  return LeaseRequest{static_cast<LeaseRequest::Kind>(kind), Load<uint64_t>(frame.data() + 8)};
}

absl::StatusOr<LeaseReply> DecodeLeaseReply(const std::array<std::byte, kLeaseReplyBytes>& frame) {
  if (Load<uint32_t>(frame.data()) != kMagic) {
    return absl::InvalidArgumentError("lease socket: not a lease reply");
  }
  LeaseReply reply;
  reply.code = Load<uint32_t>(frame.data() + 4);
  reply.lease_id = Load<uint64_t>(frame.data() + 8);
  reply.token = Load<uint64_t>(frame.data() + 16);
  reply.bytes = Load<uint64_t>(frame.data() + 24);
  reply.needed = Load<uint64_t>(frame.data() + 32);
  reply.available = Load<uint64_t>(frame.data() + 40);
  return reply;
}

absl::Status SendFrame(int socket, absl::Span<const std::byte> frame, int descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  while (!frame.empty()) {
    iovec piece{const_cast<std::byte*>(frame.data()), frame.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
    }
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return PeerGone("send");
    frame.remove_prefix(static_cast<size_t>(sent));
    descriptor = -1;  // It went with the first byte.
  }
  return absl::OkStatus();
}

absl::StatusOr<int> ReceiveFrame(int socket, absl::Span<std::byte> frame) {
  int descriptor = -1;
  const auto fail = [&descriptor](absl::Status status) {
    if (descriptor >= 0) close(descriptor);
    return status;
  };
  while (!frame.empty()) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> control{};
    iovec piece{frame.data(), frame.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) return fail(PeerGone("receive"));
    absl::StatusOr<int> taken = TakeDescriptor(&message);
    if (!taken.ok()) return fail(taken.status());
    if (*taken >= 0 && descriptor >= 0) {
      close(*taken);
      return fail(absl::InvalidArgumentError("lease socket: more than one descriptor in a frame"));
    }
    if (*taken >= 0) descriptor = *taken;
    if (received == 0) return fail(absl::UnavailableError("lease socket: closed by the peer"));
    frame.remove_prefix(static_cast<size_t>(received));
  }
  return descriptor;
}

}  // namespace shoal::wire
