#include "wire/lease_protocol.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace shoal::wire {
namespace {

struct SocketPair {
  SocketPair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0); }
  ~SocketPair() {
    for (int end : ends) close(end);
  }
  std::array<int, 2> ends{-1, -1};
};

TEST(LeaseProtocolTest, FramesSurviveTheRoundTrip) {
  const LeaseRequest request{LeaseRequest::Kind::kRelease, uint64_t{1} << 63};
  const auto decoded = DecodeLeaseRequest(EncodeLeaseRequest(request));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->kind, request.kind);
  EXPECT_EQ(decoded->value, request.value);

  const LeaseReply reply{
      .code = 8, .lease_id = 2, .token = 3, .bytes = 4, .needed = 5, .available = 6};
  const auto decoded_reply = DecodeLeaseReply(EncodeLeaseReply(reply));
  ASSERT_TRUE(decoded_reply.ok());
  EXPECT_EQ(decoded_reply->available, 6U);
  EXPECT_EQ(decoded_reply->token, 3U);
}

TEST(LeaseProtocolTest, RefusesForeignFrames) {
  std::array<std::byte, kLeaseRequestBytes> frame{};
  EXPECT_EQ(DecodeLeaseRequest(frame).status().code(), absl::StatusCode::kInvalidArgument);
  frame = EncodeLeaseRequest({static_cast<LeaseRequest::Kind>(9), 1});
  EXPECT_EQ(DecodeLeaseRequest(frame).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LeaseProtocolTest, DescriptorTravelsWithItsFrame) {
  SocketPair pair;
  const int memory = memfd_create("lease", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(memory, 4096), 0);
  const auto sent = EncodeLeaseReply({.code = 0, .lease_id = 7});
  ASSERT_TRUE(SendFrame(pair.ends[0], sent, memory).ok());
  close(memory);

  std::array<std::byte, kLeaseReplyBytes> received{};
  const auto descriptor = ReceiveFrame(pair.ends[1], absl::MakeSpan(received));
  ASSERT_TRUE(descriptor.ok()) << descriptor.status();
  EXPECT_EQ(lseek(*descriptor, 0, SEEK_END), 4096);
  EXPECT_EQ(received, sent);
  close(*descriptor);
}

TEST(LeaseProtocolTest, PeerThatClosesMidFrameIsNoticed) {
  SocketPair pair;
  const auto frame = EncodeLeaseRequest({});
  ASSERT_TRUE(SendFrame(pair.ends[0], absl::MakeSpan(frame).first(5), -1).ok());
  shutdown(pair.ends[0], SHUT_WR);
  std::array<std::byte, kLeaseRequestBytes> received{};
  EXPECT_EQ(ReceiveFrame(pair.ends[1], absl::MakeSpan(received)).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace shoal::wire
