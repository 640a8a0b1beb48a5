#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/inbox.h"

namespace shoal::support {

inline sockaddr_in LoopbackAddress(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// One end of an HTTP/2 connection (RFC 9113) that says only what it is told to: a peer of gRPC's
/// that pings too often, or not at all.
///
/// Thread-safety: one thread.
class Http2Peer {
 public:
  enum Type : uint8_t { kSettings = 4, kPing = 6, kGoAway = 7 };
  struct Frame {
    uint8_t type = 0;
    bool acknowledges = false;  ///< Flag 1 of SETTINGS and PING.
    std::string payload = {};
  };

  /// Owns `socket`, a connection that nothing was sent on.
  explicit Http2Peer(int socket) : socket_(socket) {
    // A test that waits so long has failed; it must not wait for ever.
    const timeval patience{std::chrono::seconds(kPatience).count(), 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  Http2Peer(const Http2Peer&) = delete;
  Http2Peer& operator=(const Http2Peer&) = delete;
  ~Http2Peer() { close(socket_); }

  /// What a client sends before its first frame.
  void SendPreface() { SendBytes(kPreface); }
  bool ReceivePreface() { return ReceiveBytes(kPreface.size()) == kPreface; }

  void Send(const Frame& frame) {
    const size_t length = frame.payload.size();
    std::string head(9, '\0');  // Length (3 bytes), type, flags, stream 0.
    head[1] = static_cast<char>(length >> 8U);
    head[2] = static_cast<char>(length);
    head[3] = static_cast<char>(frame.type);
    head[4] = frame.acknowledges ? '\1' : '\0';
    SendBytes(head + frame.payload);
  }

  /// The next frame of any type; nothing once the connection was closed.
  std::optional<Frame> Receive() {
    const std::optional<std::string> head = ReceiveBytes(9);
    if (!head.has_value()) return std::nullopt;
    size_t length = 0;
    for (size_t i = 0; i < 3; ++i) length = (length << 8U) | static_cast<uint8_t>((*head)[i]);
    std::optional<std::string> payload = ReceiveBytes(length);
    if (!payload.has_value()) return std::nullopt;
    return Frame{static_cast<uint8_t>((*head)[3]), ((*head)[4] & 1) != 0, *std::move(payload)};
  }

  /// The next frame of that type, of those that acknowledge or those that do not; others before it
  /// are dropped. Nothing if the connection was closed before one came.
  std::optional<Frame> ReceiveNext(Type type, bool acknowledges = false) {
    for (;;) {
      std::optional<Frame> frame = Receive();
      if (!frame.has_value()) return std::nullopt;
      if (frame->type == type && frame->acknowledges == acknowledges) return frame;
    }
  }

  /// Answers the next ping. False: the connection was closed before one came.
  bool AnswerPing() {
    const std::optional<Frame> ping = ReceiveNext(kPing);
    if (ping.has_value()) Send({kPing, true, ping->payload});
    return ping.has_value();
  }

 private:
  inline static const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  void SendBytes(const std::string& bytes) {
    // A peer that has closed the connection shows at the next Receive.
    send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  std::optional<std::string> ReceiveBytes(size_t count) {
    std::string bytes(count, '\0');
    size_t have = 0;
    while (have < count) {
      const ssize_t got = recv(socket_, bytes.data() + have, count - have, 0);
      EXPECT_FALSE(got < 0 && errno == EAGAIN) << "waited in vain for a frame";
      if (got <= 0) return std::nullopt;
      have += static_cast<size_t>(got);
    }
    return bytes;
  }

  const int socket_;
};

/// A listening socket on a free port of loopback.
class LoopbackListener {
 public:
  LoopbackListener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = LoopbackAddress(0);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  }
  LoopbackListener(const LoopbackListener&) = delete;
  LoopbackListener& operator=(const LoopbackListener&) = delete;
  ~LoopbackListener() { close(socket_); }

  int port() const { return port_; }
  /// Waits for a connection; returns its socket.
  int Accept() const { return accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  const int socket_;
  int port_ = 0;
};

/// Connects to a port of loopback; returns the socket.
inline int ConnectToLoopback(int port) {
  const int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = LoopbackAddress(port);
  EXPECT_EQ(connect(connected, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return connected;
}

}  // namespace shoal::support
