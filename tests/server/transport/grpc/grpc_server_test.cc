#include "server/transport/grpc/grpc_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/server/transport/grpc/client.h"
#include "tests/support/http2_peer.h"

namespace shoal::transport {
namespace {

using std::chrono::milliseconds;
using support::Http2Peer;
using support::Inbox;

class GrpcServerTest : public ServerTest {
 protected:
  std::vector<Method> Methods() {
    return {
        {"Empty", [](const std::shared_ptr<UnaryCall>& call) { call->Reply({}); }, nullptr},
        {"Hold", [this](std::shared_ptr<UnaryCall> call) { held_.Put(std::move(call)); }, nullptr}};
  }

  /// grpc.health.v1: 1 is SERVING, 2 NOT_SERVING; the error's code, negative, where it has none.
  int Health(const std::string& service) {
    std::string request;
    if (!service.empty()) {
      request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    }
    const Client::Answer answer = client().Call("/grpc.health.v1.Health/Check", request);
    if (!answer.status.ok()) return -answer.status.error_code();
    return answer.bytes.size() == 2 ? answer.bytes[1] : 0;
  }

  Inbox<std::shared_ptr<UnaryCall>> held_;
};

TEST_F(GrpcServerTest, HealthIsPerServiceAndSaysNothingBeforeItWasSet) {
  Serve(Methods());
  EXPECT_NE(Health(""), 1);
  EXPECT_EQ(Health("test.Service"), -grpc::StatusCode::NOT_FOUND);
  server_->SetServing("", true);
  server_->SetServing("test.Service", true);
  EXPECT_EQ(Health(""), 1);
  EXPECT_EQ(Health("test.Service"), 1);
  server_->SetServing("test.Service", false);
  EXPECT_EQ(Health("test.Service"), 2);
  EXPECT_EQ(Health(""), 1);
  EXPECT_EQ(Health("worker/3"), -grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcServerTest, ReflectionListsTheServices) {
  Serve(Methods());
  ClientStream stream(client(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  stream.Write(std::string("\x3a\x00", 2));  // list_services: ""
  const auto answer = stream.Read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_NE(answer->find("test.Service"), std::string::npos);
  EXPECT_NE(answer->find("grpc.health.v1.Health"), std::string::npos);
  stream.HalfClose();
  EXPECT_TRUE(stream.End().ok());
}

TEST_F(GrpcServerTest, UnknownMethodsAreUnimplemented) {
  Serve(Methods());
  EXPECT_EQ(client().Call("/test.Service/None", "").status.error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(client().Call("/other.Service/Empty", "").status.error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(GrpcServerTest, AMessageAboveTheLimitIsRefusedAndTheServerLives) {
  Serve(Methods(), {.endpoints = {}, .message_bytes_max = 1000, .streams_per_connection_max = 10});
  EXPECT_TRUE(client().Call("/test.Service/Empty", std::string(1000, 'x')).status.ok());
  EXPECT_EQ(client().Call("/test.Service/Empty", std::string(1001, 'x')).status.error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(client().Call("/test.Service/Empty", std::string(5 << 20, 'x')).status.error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(client().Call("/test.Service/Empty", "x").status.ok());
}

TEST_F(GrpcServerTest, ACompressedMessageIsUnimplementedHoweverSmallItIs) {
  Serve(Methods());
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    for (const size_t bytes : {size_t{10}, size_t{100'000}, size_t{50'000'000}}) {
      grpc::ClientContext context;
      context.set_compression_algorithm(algorithm);
      Inbox<Client::Answer> answers;
      client().Start(&context, "/test.Service/Empty", std::string(bytes, 'x'), &answers);
      EXPECT_EQ(answers.Take().status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << bytes;
    }
  }
  EXPECT_TRUE(client().Call("/test.Service/Empty", "x").status.ok());
}

TEST_F(GrpcServerTest, ServesUnixSocketsBesidePorts) {
  char directory[] = "grpc-test-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string socket = absl::StrCat("unix:", directory, "/s");
  Serve(Methods(), {.endpoints = {{socket, std::nullopt}}});
  EXPECT_GT(server_->Ports()[0], 0);
  EXPECT_EQ(server_->Ports()[1], 0);
  EXPECT_TRUE(Client(socket).Call("/test.Service/Empty", "").status.ok());
  EXPECT_TRUE(client().Call("/test.Service/Empty", "").status.ok());
  server_->Shutdown(Duration::zero());
  server_.reset();
  unlink(absl::StrCat(directory, "/s").c_str());
  EXPECT_EQ(rmdir(directory), 0);
}

TEST_F(GrpcServerTest, AnAddressInUseIsUnavailable) {
  Serve(Methods());
  const ServerOptions options{.endpoints = {{Address(), std::nullopt}},
                              .message_bytes_max = 1000,
                              .streams_per_connection_max = 10};
  const auto second = StartGrpcServer(options, {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(second.status().message().find(Address()), absl::string_view::npos);
}

TEST_F(GrpcServerTest, TlsIsRefusedInItsOwnWordsUntilItIsBuilt) {
  const auto start = [](const char* address) {
    const ServerOptions options{.endpoints = {{address, TlsMaterial{"chain", "key", ""}}},
                                .message_bytes_max = 1000,
                                .streams_per_connection_max = 10};
    return StartGrpcServer(options, {}).status();
  };
  EXPECT_EQ(start("127.0.0.1:0").code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(start("127.0.0.1:0").message().find("TLS is not built yet"), absl::string_view::npos);
  EXPECT_EQ(start("unix:never-made").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(GrpcServerTest, ShutdownLetsCallsFinishHoweverLongTheGrace) {
  for (const Duration grace : {Duration(std::chrono::hours(1)), Duration::max()}) {
    Serve(Methods());
    grpc::ClientContext context;
    Inbox<Client::Answer> answers;
    client().Start(&context, "/test.Service/Hold", "", &answers);
    const auto call = held_.Take();
    std::thread stopper([&] { server_->Shutdown(grace); });
    // Nothing new is accepted any more once the shutdown has begun.
    while (Client(Address()).Call("/test.Service/Empty", "").status.ok()) {
    }
    EXPECT_FALSE(call->IsCancelled());
    call->Reply(FrameOf("well"));
    EXPECT_EQ(answers.Take().bytes, "well");
    stopper.join();
    server_.reset();
  }
}

TEST_F(GrpcServerTest, ShutdownCancelsWhatOutlastsTheGraceAndWaitsForIt) {
  Serve(Methods());
  grpc::ClientContext context;
  Inbox<Client::Answer> answers;
  client().Start(&context, "/test.Service/Hold", "", &answers);
  const auto call = held_.Take();
  Inbox<bool> cancelled;
  call->OnCancel([&] { cancelled.Put(true); });
  Inbox<bool> stopped;
  std::thread stopper([&] {
    server_->Shutdown(std::chrono::milliseconds(1));
    stopped.Put(true);
  });
  EXPECT_TRUE(cancelled.Take());
  EXPECT_EQ(stopped.size(), 0U);
  call->Finish(absl::CancelledError("stopping"));
  EXPECT_TRUE(stopped.Take());
  stopper.join();
  EXPECT_FALSE(answers.Take().status.ok());
  server_.reset();
}

class KeepaliveTest : public GrpcServerTest {
 protected:
  /// A server with these settings, and a client's connection to it that makes no calls.
  std::unique_ptr<Http2Peer> ConnectTo(const wire::Keepalive& keepalive) {
    ServerOptions options;
    options.keepalive = keepalive;
    Serve(Methods(), options);
    auto peer = std::make_unique<Http2Peer>(support::ConnectToLoopback(server_->Ports()[0]));
    peer->SendPreface();
    peer->Send({Http2Peer::kSettings});
    peer->Send({Http2Peer::kSettings, true});
    return peer;
  }
};

TEST_F(KeepaliveTest, PermittedPingsAreAnsweredWithoutEnd) {
  const auto peer = ConnectTo({.ping_interval_min = milliseconds(0)});
  for (char i = 0; i < 20; ++i) {
    const std::string payload(8, i);
    peer->Send({Http2Peer::kPing, false, payload});
    const auto answer = peer->ReceiveNext(Http2Peer::kPing, true);
    ASSERT_TRUE(answer.has_value()) << "closed after " << int{i} << " pings";
    EXPECT_EQ(answer->payload, payload);
  }
}

TEST_F(KeepaliveTest, PingsThatComeTooSoonEndTheConnection) {
  const auto peer = ConnectTo({.ping_interval_min = std::chrono::hours(1)});
  for (int i = 0; i < 5; ++i) peer->Send({Http2Peer::kPing, false, std::string(8, 'p')});
  const auto end = peer->ReceiveNext(Http2Peer::kGoAway);
  ASSERT_TRUE(end.has_value());
  EXPECT_NE(end->payload.find("too_many_pings"), std::string::npos);
}

TEST_F(KeepaliveTest, AClientThatNoLongerAnswersPingsIsDropped) {
  const auto peer = ConnectTo({.interval = milliseconds(20), .timeout = milliseconds(500)});
  // More than the two that gRPC sends by default while there is no data.
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(peer->AnswerPing());
  EXPECT_TRUE(peer->ReceiveNext(Http2Peer::kPing).has_value());
  while (peer->Receive().has_value()) {
  }
}

}  // namespace
}  // namespace shoal::transport
