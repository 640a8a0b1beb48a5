#include "server/net/listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace shoal::net {
namespace {

absl::Status CannotListen(const std::string& address, absl::string_view reason) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", reason));
}

struct HostAndPort {
  std::string host;
  std::string port;
};

HostAndPort Split(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {address, ""};
  std::string host = address.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return {bracketed ? host.substr(1, host.size() - 2) : host, address.substr(colon + 1)};
}

Descriptor OpenSpare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

void SetOn(const Descriptor& socket, int level, int option) {
  const int on = 1;
  setsockopt(socket.fd(), level, option, &on, sizeof(on));
}

/// The port is 0 in `address` and another one already chosen: every address gets the same.
void SetPort(sockaddr* address, int port) {
  const auto network = htons(static_cast<uint16_t>(port));
  if (address->sa_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = network;
  } else {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = network;
  }
}

int PortOf(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in*>(&address)->sin_port
                   : reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
}

/// Listening, or invalid with errno.
Descriptor ListenOn(const addrinfo& address) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return socket;
  // Never SO_REUSEPORT: two services would share a port without a word. What a connection
  // inherits: its small answers are sent at once.
  SetOn(socket, SOL_SOCKET, SO_REUSEADDR);
  SetOn(socket, IPPROTO_TCP, TCP_NODELAY);
  // "localhost" may be both ::1 and 127.0.0.1, each with a socket; "::" alone is for both.
  if (bind(socket.fd(), address.ai_addr, address.ai_addrlen) != 0 ||
      listen(socket.fd(), SOMAXCONN) != 0) {
    return Descriptor();
  }
  return socket;
}

}  // namespace

absl::StatusOr<std::vector<Listener>> Listener::Tcp(const std::string& address) {
  const HostAndPort parts = Split(address);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* resolved = nullptr;
  if (const int error = getaddrinfo(parts.host.c_str(), parts.port.c_str(), &hints, &resolved);
      error != 0) {
    return CannotListen(address, gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(resolved, freeaddrinfo);
  std::vector<Listener> listeners;
  int error = 0;
  for (addrinfo* next = resolved; next != nullptr; next = next->ai_next) {
    if (!listeners.empty()) SetPort(next->ai_addr, listeners.front().port());
    Descriptor socket = ListenOn(*next);
    if (!socket.valid()) {
      error = errno;
      // A machine without IPv6 still has the name ::1 for itself.
      if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) continue;
      return CannotListen(address, strerror(error));
    }
    const int port = PortOf(socket);
    listeners.push_back(Listener(std::move(socket), "", port));
  }
  if (listeners.empty()) return CannotListen(address, strerror(error));
  return listeners;
}

absl::StatusOr<Listener> Listener::Unix(const std::string& path, std::optional<unsigned> mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return CannotListen(path, "the path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid() ||
      bind(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return CannotListen(path, strerror(errno));
  }
  Listener listener(std::move(socket), path, 0);
  const bool ready = (!mode.has_value() || chmod(path.c_str(), *mode) == 0) &&
                     listen(listener.socket_.fd(), SOMAXCONN) == 0;
  if (!ready) return CannotListen(path, strerror(errno));
  return listener;
}

Listener::Listener(Descriptor socket, std::string path, int port)
    : socket_(std::move(socket)), spare_(OpenSpare()), path_(std::move(path)), port_(port) {}

Listener::~Listener() {
  if (!path_.empty()) unlink(path_.c_str());
}

std::optional<Descriptor> Listener::Accept() {
  resting_ = false;
  if (!spare_.valid()) spare_ = OpenSpare();
  const int socket = accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket >= 0) return Descriptor(socket);
  switch (errno) {
    case EMFILE:
    case ENFILE:
      Refuse();
      break;
    case ENOMEM:
    case ENOBUFS:
      resting_ = true;
      break;
    default:
      break;  // Nobody is there, or is gone again.
  }
  return std::nullopt;
}

void Listener::Refuse() {
  spare_.Close();
  const Descriptor refused(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (refused.valid()) {
    ++refused_count_;
  } else {
    resting_ = errno != EAGAIN;  // Another thread was quicker to take the spare one.
  }
}  // The next Accept opens a new spare.

}  // namespace shoal::net
