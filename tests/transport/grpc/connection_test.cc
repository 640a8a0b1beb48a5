#include "transport/grpc/connection.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/support/http2_peer.h"
#include "tests/transport/grpc/methods.h"
#include "transport/grpc/channel.h"

namespace shoal::transport {
namespace {

using std::chrono::milliseconds;
using support::Http2Peer;
using support::kPatience;

/// A server that speaks HTTP/2, but not gRPC: nothing in it answers a call.
class KeepaliveTest : public ::testing::Test {
 protected:
  ChannelOptions Options() const {
    return {.target = "127.0.0.1:" + std::to_string(listener_.port()),
            .methods = kMethods,
            .keepalive = {.interval = milliseconds(20), .timeout = milliseconds(500)}};
  }

  /// The server's end of a connection on which a client may begin calls.
  std::unique_ptr<Http2Peer> Accept() const {
    auto peer = std::make_unique<Http2Peer>(listener_.Accept());
    EXPECT_TRUE(peer->ReceivePreface());
    peer->Send({Http2Peer::kSettings});
    peer->Send({Http2Peer::kSettings, true});
    return peer;
  }

  const support::LoopbackListener listener_;
};

TEST_F(KeepaliveTest, ACallEndsWhenItsServerNoLongerAnswersPings) {
  int pings = 0;
  std::unique_ptr<Http2Peer> peer;
  std::thread server([&] {
    peer = Accept();
    // One more than gRPC sends by default while there is no data. (It sends one a second.)
    while (pings < 3 && peer->AnswerPing()) ++pings;
  });
  const auto channel = MakeGrpcChannel(Options());
  ASSERT_TRUE(channel.ok()) << channel.status();
  const CallTerms terms{.deadline = std::chrono::steady_clock::now() + kPatience};
  EXPECT_EQ((*channel)->Call(kGetServerInfo, {}, terms).status().code(),
            absl::StatusCode::kUnavailable);
  server.join();
  EXPECT_EQ(pings, 3);
}

TEST_F(KeepaliveTest, AConnectionWithoutCallsIsPingedToo) {
  const auto native = Connect(Options());
  ASSERT_TRUE(native.ok()) << native.status();
  bool pinged = false;
  std::thread server([&] {
    const std::unique_ptr<Http2Peer> peer = Accept();
    pinged = peer->ReceiveNext(Http2Peer::kPing).has_value();
  });
  EXPECT_TRUE((*native)->WaitForConnected(std::chrono::system_clock::now() + kPatience));
  server.join();
  EXPECT_TRUE(pinged);
}

}  // namespace
}  // namespace shoal::transport
