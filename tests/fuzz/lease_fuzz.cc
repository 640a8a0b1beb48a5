// The lease socket's frames, as bytes and through a socket that delivers them in two parts: an
// answer or an error comes out, and what was read is written the same.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "wire/lease_protocol.h"

namespace shoal::wire {
namespace {

template <size_t N>
std::array<std::byte, N> Frame(const uint8_t* data, size_t size) {
  std::array<std::byte, N> frame{};
  std::memcpy(frame.data(), data, std::min(size, N));
  return frame;
}

void CheckRequest(const uint8_t* data, size_t size) {
  const auto frame = Frame<kLeaseRequestBytes>(data, size);
  const auto request = DecodeLeaseRequest(frame);
  if (!request.ok()) {
    SHOAL_CHECK(request.status().code() == absl::StatusCode::kInvalidArgument);
    return;
  }
  SHOAL_CHECK(EncodeLeaseRequest(*request) == frame);
}

void CheckReply(const uint8_t* data, size_t size) {
  const auto frame = Frame<kLeaseReplyBytes>(data, size);
  const auto reply = DecodeLeaseReply(frame);
  if (!reply.ok()) {
    SHOAL_CHECK(reply.status().code() == absl::StatusCode::kInvalidArgument);
    return;
  }
  SHOAL_CHECK(EncodeLeaseReply(*reply) == frame);
}

/// The first byte says where the stream is cut, and how many descriptors come along.
void CheckSocket(const uint8_t* data, size_t size) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  const auto* bytes = reinterpret_cast<const std::byte*>(data + 1);
  const size_t cut = std::min<size_t>(data[0] % kLeaseReplyBytes, size - 1);
  const bool with_descriptor = data[0] >= 128;
  const bool twice = data[0] >= 192;
  if (cut > 0) {
    SHOAL_CHECK(SendFrame(ends[0], {bytes, cut}, with_descriptor ? STDIN_FILENO : -1).ok());
  }
  if (size - 1 > cut) {
    SHOAL_CHECK(SendFrame(ends[0], {bytes + cut, size - 1 - cut}, twice ? STDIN_FILENO : -1).ok());
  }
  close(ends[0]);
  std::array<std::byte, kLeaseReplyBytes> frame{};
  const auto descriptor = ReceiveFrame(ends[1], absl::MakeSpan(frame));
  if (descriptor.ok()) {
    SHOAL_CHECK(size - 1 >= frame.size());
    SHOAL_CHECK(std::memcmp(frame.data(), bytes, frame.size()) == 0);
    if (*descriptor >= 0) close(*descriptor);
  }
  close(ends[1]);
}

}  // namespace
}  // namespace shoal::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 4096) return 0;
  shoal::wire::CheckRequest(data, size);
  shoal::wire::CheckReply(data, size);
  shoal::wire::CheckSocket(data, size);
  return 0;
}
