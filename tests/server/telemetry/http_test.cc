#include "server/telemetry/http.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/net/descriptor.h"

namespace shoal::telemetry {
namespace {

using ::testing::HasSubstr;

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = HttpServer::Start({.metrics = [] { return std::string("shoal_x 1\n"); },
                                      .ready = [this] { return Ready(); }});
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }

  absl::Status Ready() const {
    return draining_ ? absl::UnavailableError("draining") : absl::OkStatus();
  }
  httplib::Client Client() const { return httplib::Client("127.0.0.1", server_->port()); }

  std::atomic<bool> draining_{false};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, MetricsAreServedAsPrometheusText) {
  const httplib::Result result = Client().Get("/metrics");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->body, "shoal_x 1\n");
  EXPECT_EQ(result->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
}

TEST_F(HttpServerTest, ReadinessFollowsTheCallbackAndHealthDoesNot) {
  EXPECT_EQ(Client().Get("/readyz")->status, 200);
  draining_ = true;
  const httplib::Result result = Client().Get("/readyz");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 503);
  EXPECT_EQ(result->body, "draining\n");
  EXPECT_EQ(Client().Get("/healthz")->status, 200);
  EXPECT_EQ(Client().Head("/healthz")->status, 200);
}

TEST_F(HttpServerTest, OtherPathsMethodsAndBodiesAreRefused) {
  EXPECT_EQ(Client().Get("/")->status, 404);
  EXPECT_EQ(Client().Get("/metrics/")->status, 404);
  EXPECT_EQ(Client().Get("/../etc/passwd")->status, 404);
  EXPECT_EQ(Client().Post("/metrics", "x", "text/plain")->status, 405);
  EXPECT_EQ(Client().Post("/metrics", std::string(100'000, 'x'), "text/plain")->status, 405);
}

TEST_F(HttpServerTest, ATakenPortIsAnErrorThatNamesIt) {
  const auto second = HttpServer::Start({.port = server_->port()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(second.status().message()),
      HasSubstr("127.0.0.1:" + std::to_string(server_->port()) + ": Address already in use"));
  EXPECT_EQ(HttpServer::Start({.host = "no.such.host.invalid"}).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(HttpServerTest, ThePortIsFreeAgainAfterStop) {
  const int port = server_->port();
  EXPECT_EQ(Client().Get("/healthz")->status, 200);
  server_->Stop();
  server_->Stop();
  EXPECT_FALSE(Client().Get("/healthz"));
  const auto again = HttpServer::Start({.port = port});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->port(), port);
}

TEST_F(HttpServerTest, StoppingAtOnceReturns) {
  for (int i = 0; i < 20; ++i) {
    auto server = HttpServer::Start({});
    ASSERT_TRUE(server.ok());
  }
}

TEST_F(HttpServerTest, AScraperThatKeepsItsConnectionShutsNobodyOut) {
  std::vector<std::unique_ptr<httplib::Client>> kept;
  for (int i = 0; i < 8; ++i) {
    kept.push_back(std::make_unique<httplib::Client>("127.0.0.1", server_->port()));
    kept.back()->set_keep_alive(true);
    EXPECT_EQ(kept.back()->Get("/metrics")->status, 200);
  }
  EXPECT_EQ(Client().Get("/healthz")->status, 200);
}

/// A connection as bytes.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  void Send(const std::string& bytes) {
    send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);  // It may be cut off.
  }
  /// All that comes until the server closes or resets the connection.
  std::string Receive() {
    std::string all;
    char piece[4096];
    for (ssize_t n = 0; (n = recv(socket_.fd(), piece, sizeof(piece), 0)) > 0;) {
      all.append(piece, static_cast<size_t>(n));
    }
    return all;
  }

 private:
  const net::Descriptor socket_;
};

TEST_F(HttpServerTest, SilentAndSlowConnectionsHoldUpNobody) {
  std::vector<std::unique_ptr<RawClient>> held;
  for (int i = 0; i < 100; ++i) {
    held.push_back(std::make_unique<RawClient>(server_->port()));
    if (i % 2 == 0) held.back()->Send("GET /healthz HTTP/1.1\r\nA: ");
  }
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(Client().Get("/healthz")->status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
  EXPECT_EQ(held.front()->Receive(), "") << "the oldest made room";
}

TEST_F(HttpServerTest, StopClosesWhatIsOpen) {
  RawClient slow(server_->port());
  slow.Send("GET /healthz HTTP/1.1\r\nA: ");
  EXPECT_EQ(Client().Get("/healthz")->status, 200);
  const auto begun = std::chrono::steady_clock::now();
  server_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
  EXPECT_EQ(slow.Receive(), "");
}

TEST_F(HttpServerTest, AnEndlessHeadIsCutShort) {
  RawClient client(server_->port());
  client.Send("GET /healthz HTTP/1.1\r\n");
  for (int i = 0; i < 100; ++i) client.Send("A: " + std::string(1000, 'x') + "\r\n");
  EXPECT_THAT(client.Receive(), HasSubstr(" 431 "));
}

TEST_F(HttpServerTest, RangesAreIgnored) {
  const httplib::Result result = Client().Get("/metrics", {{"Range", "bytes=0-1,0-,0-"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->body, "shoal_x 1\n");
}

TEST_F(HttpServerTest, ALongAnswerArrivesWhole) {
  const std::string text(20'000'000, 'm');
  auto server = HttpServer::Start({.metrics = [&] { return text; }});
  ASSERT_TRUE(server.ok());
  const httplib::Result result = httplib::Client("127.0.0.1", (*server)->port()).Get("/metrics");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->body, text);
}

TEST_F(HttpServerTest, WhatIsNotHttpIsABadRequest) {
  RawClient client(server_->port());
  client.Send("hello\r\n\r\n");
  EXPECT_THAT(client.Receive(), HasSubstr("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, ManyAtOnceAreAllAnswered) {
  std::atomic<int> answered{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const httplib::Result result = Client().Get("/metrics");
        if (result && result->status == 200) ++answered;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(answered, 160);
}

}  // namespace
}  // namespace shoal::telemetry
