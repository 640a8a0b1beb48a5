#include "tests/integration/support/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace shoal::testing {
namespace {

constexpr int kPollMs = 20;  // How soon a thread notices that the proxy ends.

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool SendAll(int socket, const char* data, ssize_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(socket, data, static_cast<size_t>(bytes), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    bytes -= sent;
  }
  return true;
}

/// Closes so that the peer sees a reset.
void Reset(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(socket);
}

}  // namespace

TcpProxy::TcpProxy(int port) : port_(port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  SHOAL_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  SHOAL_CHECK(listen(listener_, 64) == 0);
  socklen_t length = sizeof(address);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
  own_port_ = ntohs(address.sin_port);
  accept_thread_ = std::thread([this] { Accept(); });
}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  accept_thread_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

std::string TcpProxy::address() const { return absl::StrCat("127.0.0.1:", own_port_); }

void TcpProxy::CutAfter(std::deque<int64_t> bytes) {
  const std::lock_guard lock(mutex_);
  cuts_ = std::move(bytes);
}

int64_t TcpProxy::cuts_left() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(cuts_.size());
}

void TcpProxy::Accept() {
  while (!stopping_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, kPollMs) <= 0) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) threads_.emplace_back([this, client] { Forward(client); });
  }
}

void TcpProxy::Forward(int client) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port_);
  bool open = connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  for (const int end : {client, server}) {
    const int on = 1;
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  while (open && !stopping_) {
    pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    if (poll(ends, 2, kPollMs) <= 0) continue;
    if (ends[0].revents != 0) open = Pass(client, server);
    if (open && ends[1].revents != 0) open = Pass(server, client);
  }
  Reset(client);
  Reset(server);
}

bool TcpProxy::Pass(int from, int to) {
  char buffer[16384];
  const ssize_t bytes = recv(from, buffer, sizeof(buffer), 0);
  if (bytes <= 0) return false;
  return !CutNow(bytes) && SendAll(to, buffer, bytes);
}

// The first cut counts down whatever carries bytes; its bytes are not passed on any more.
bool TcpProxy::CutNow(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (cuts_.empty()) return false;
  cuts_.front() -= bytes;
  if (cuts_.front() > 0) return false;
  cuts_.pop_front();
  return true;
}

}  // namespace shoal::testing
