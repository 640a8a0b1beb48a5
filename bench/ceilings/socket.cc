#include "bench/ceilings/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace shoal::bench {
namespace {

constexpr absl::string_view kLoopback = "127.0.0.1:";

absl::Status Fault(const char* call) {
  return absl::UnavailableError(absl::StrCat(call, ": ", strerror(errno)));
}

absl::Status PeerClosed() { return absl::UnavailableError("the peer closed the connection"); }

struct Address {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Address TcpAddress(uint16_t port) {
  Address address;
  auto* in = reinterpret_cast<sockaddr_in*>(&address.storage);
  in->sin_family = AF_INET;
  in->sin_port = htons(port);
  in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.length = sizeof(*in);
  return address;
}

Address UnixAddress(absl::string_view name) {
  Address address;
  auto* un = reinterpret_cast<sockaddr_un*>(&address.storage);
  un->sun_family = AF_UNIX;
  // A first byte of 0 makes the name abstract: there is no file to be left behind.
  std::memcpy(un->sun_path + 1, name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

void SendAtOnce(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// What of a message is still to be sent.
class Unsent {
 public:
  explicit Unsent(const wire::Pieces& message) {
    for (const ConstBytes piece : message) {
      parts_.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
    }
    Skip(0);
  }
  bool empty() const { return index_ == parts_.size(); }
  msghdr Header() {
    msghdr header = {};
    header.msg_iov = &parts_[index_];
    header.msg_iovlen = parts_.size() - index_;
    return header;
  }
  void Skip(size_t count) {
    while (index_ < parts_.size() && count >= parts_[index_].iov_len) {
      count -= parts_[index_].iov_len;
      ++index_;
    }
    if (empty()) return;
    parts_[index_].iov_base = static_cast<std::byte*>(parts_[index_].iov_base) + count;
    parts_[index_].iov_len -= count;
  }

 private:
  absl::InlinedVector<iovec, 4> parts_;
  size_t index_ = 0;
};

// Sends what the socket takes. Returns false where it would have to wait.
absl::StatusOr<bool> SendSome(const Socket& socket, int flags, Unsent* unsent) {
  const msghdr header = unsent->Header();
  const ssize_t count = sendmsg(socket.descriptor(), &header, flags | MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count < 0) return Fault("sendmsg");
  unsent->Skip(static_cast<size_t>(count));
  return true;
}

// Takes what has come. Returns false where it would have to wait.
absl::StatusOr<bool> ReceiveSome(const Socket& socket, Bytes* rest) {
  const ssize_t count = recv(socket.descriptor(), rest->data(), rest->size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count < 0) return Fault("recv");
  if (count == 0) return PeerClosed();
  rest->remove_prefix(static_cast<size_t>(count));
  return true;
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<Listener> Listen(const std::string& plane) {
  const bool tcp = plane == "tcp";
  Listener listener{Socket(socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), ""};
  const std::string name = absl::StrCat("shoal-bench-", getpid());
  Address address = tcp ? TcpAddress(0) : UnixAddress(name);
  const int descriptor = listener.socket.descriptor();
  if (bind(descriptor, address.get(), address.length) != 0) return Fault("bind");
  if (listen(descriptor, SOMAXCONN) != 0) return Fault("listen");
  if (!tcp) {
    listener.address = absl::StrCat("@", name);
    return listener;
  }
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address.storage), &address.length);
  const auto* in = reinterpret_cast<const sockaddr_in*>(&address.storage);
  listener.address = absl::StrCat(kLoopback, ntohs(in->sin_port));
  return listener;
}

absl::StatusOr<Socket> Connect(const std::string& address) {
  const bool tcp = !absl::StartsWith(address, "@");
  uint32_t port = 0;
  if (tcp && (!absl::StartsWith(address, kLoopback) ||
              !absl::SimpleAtoi(address.substr(kLoopback.size()), &port) || port > UINT16_MAX)) {
    return absl::InvalidArgumentError(absl::StrCat("not a loopback address: ", address));
  }
  Socket socket(::socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address peer = tcp ? TcpAddress(static_cast<uint16_t>(port))
                           : UnixAddress(absl::string_view(address).substr(1));
  if (connect(socket.descriptor(), peer.get(), peer.length) != 0) return Fault("connect");
  if (tcp) SendAtOnce(socket);
  return socket;
}

absl::StatusOr<size_t> ReadSome(const Socket& socket, Bytes bytes) {
  while (true) {
    const ssize_t count = recv(socket.descriptor(), bytes.data(), bytes.size(), 0);
    if (count > 0) return static_cast<size_t>(count);
    if (count == 0) return PeerClosed();
    if (errno != EINTR) return Fault("recv");
  }
}

absl::Status ReadAll(const Socket& socket, Bytes bytes) {
  while (!bytes.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const size_t count, ReadSome(socket, bytes));
    bytes.remove_prefix(count);
  }
  return absl::OkStatus();
}

absl::Status WriteAll(const Socket& socket, const wire::Pieces& message) {
  Unsent unsent(message);
  while (!unsent.empty()) {
    if (const auto sent = SendSome(socket, 0, &unsent); !sent.ok()) return sent.status();
  }
  return absl::OkStatus();
}

absl::Status Exchange(const Socket& socket, const wire::Pieces& message, Bytes reply) {
  Unsent unsent(message);
  while (!unsent.empty()) {
    SHOAL_ASSIGN_OR_RETURN(bool moved, SendSome(socket, MSG_DONTWAIT, &unsent));
    if (!reply.empty()) {
      SHOAL_ASSIGN_OR_RETURN(const bool received, ReceiveSome(socket, &reply));
      moved = moved || received;
    }
    if (moved || unsent.empty()) continue;
    const auto events = static_cast<int16_t>(reply.empty() ? POLLOUT : POLLIN | POLLOUT);
    pollfd waited = {socket.descriptor(), events, 0};
    poll(&waited, 1, -1);
  }
  return ReadAll(socket, reply);
}

}  // namespace shoal::bench
