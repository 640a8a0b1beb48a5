#include "server/service/lease_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/memory/shortage.h"

namespace shoal::service {
namespace {

constexpr size_t kConnectionsMax = 1024;
constexpr size_t kLeasesPerConnectionMax = 256;

absl::Status Unavailable(absl::string_view doing, const std::string& path) {
  return absl::UnavailableError(absl::StrCat(doing, " ", path, ": ", strerror(errno)));
}

absl::StatusOr<int> Listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::UnavailableError(absl::StrCat("socket path too long: ", path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return Unavailable("socket", path);
  const bool listening =
      bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      chmod(path.c_str(), 0600) == 0 && listen(listener, 128) == 0;
  if (listening) return listener;
  absl::Status status = Unavailable("listen on", path);
  close(listener);
  return status;
}

bool IsOwnUser(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) == 0 &&
         (credentials.uid == geteuid() || credentials.uid == 0);
}

wire::LeaseReply Refusal(const absl::Status& status) {
  wire::LeaseReply reply;
  reply.code = static_cast<uint32_t>(status.code());
  if (const auto shortage = memory::ShortageOf(status); shortage.has_value()) {
    reply.needed = static_cast<uint64_t>(shortage->needed_bytes);
    reply.available = static_cast<uint64_t>(shortage->available_bytes);
  }
  return reply;
}

}  // namespace

struct LeaseServer::Connection {
  std::array<std::byte, wire::kLeaseRequestBytes> frame{};
  size_t received = 0;  // Of the frame.
  std::vector<LeaseId> leases;
};

absl::StatusOr<std::unique_ptr<LeaseServer>> LeaseServer::Start(std::string path,
                                                                runtime::Leases* leases,
                                                                telemetry::Logger* logger) {
  auto listener = Listen(path);
  if (!listener.ok()) return listener.status();
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) {
    close(*listener);
    return Unavailable("eventfd for", path);
  }
  return std::unique_ptr<LeaseServer>(
      new LeaseServer({std::move(path), *listener, wake}, leases, logger));
}

LeaseServer::LeaseServer(Sockets sockets, runtime::Leases* leases, telemetry::Logger* logger)
    : sockets_(std::move(sockets)), leases_(leases), logger_(logger), thread_([this] { Run(); }) {}

LeaseServer::~LeaseServer() {
  eventfd_write(sockets_.wake, 1);
  thread_.join();
  while (!connections_.empty()) Drop(connections_.begin()->first);
  close(sockets_.listener);
  close(sockets_.wake);
  unlink(sockets_.path.c_str());
}

void LeaseServer::Run() {
  std::vector<pollfd> watched;
  for (;;) {
    watched = {{sockets_.wake, POLLIN, 0}};
    // Beyond the limit nobody is accepted; they wait in the listener's queue.
    watched.push_back(
        {sockets_.listener, connections_.size() < kConnectionsMax ? short{POLLIN} : short{0}, 0});
    for (const auto& [socket, connection] : connections_) watched.push_back({socket, POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    for (size_t i = 2; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      const auto connection = connections_.find(watched[i].fd);
      if (!Serve(connection->first, connection->second.get())) Drop(connection->first);
    }
    if (watched[1].revents != 0) Accept();
  }
}

void LeaseServer::Accept() {
  const int socket = accept4(sockets_.listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  if (!IsOwnUser(socket)) {
    logger_->Warning("lease socket: a process of another user was refused");
    close(socket);
    return;
  }
  connections_[socket] = std::make_unique<Connection>();
}

/// Takes what has come; false ends the connection. A client that sends half a frame holds up
/// nobody.
bool LeaseServer::Serve(int socket, Connection* connection) {
  // recv, unlike recvmsg, lets the kernel close descriptors that nobody asked for.
  const ssize_t received = recv(socket, connection->frame.data() + connection->received,
                                connection->frame.size() - connection->received, 0);
  if (received < 0) return errno == EAGAIN || errno == EINTR;
  if (received == 0) return false;
  connection->received += static_cast<size_t>(received);
  if (connection->received < connection->frame.size()) return true;
  connection->received = 0;
  const auto request = wire::DecodeLeaseRequest(connection->frame);
  if (!request.ok()) {
    logger_->Info("lease socket: bad request",
                  {{"reason", std::string(request.status().message())}});
    return false;
  }
  return Answer(socket, connection, *request);
}

bool LeaseServer::Answer(int socket, Connection* connection, const wire::LeaseRequest& request) {
  wire::LeaseReply reply;
  int descriptor = -1;
  if (request.kind == wire::LeaseRequest::Kind::kRelease) {
    const LeaseId id{request.value};
    // Only its own: another connection's lease is as unknown as one that never was.
    if (std::erase(connection->leases, id) > 0) leases_->Release(id);
  } else if (connection->leases.size() >= kLeasesPerConnectionMax) {
    reply = Refusal(absl::ResourceExhaustedError("too many leases on one connection"));
  } else if (const auto lease = leases_->Acquire(request.value); lease.ok()) {
    connection->leases.push_back((*lease)->id);
    reply.lease_id = (*lease)->id.value;
    reply.token = (*lease)->token;
    reply.bytes = static_cast<uint64_t>((*lease)->region.bytes());
    descriptor = (*lease)->region.fd();
    // The lease is in the table as long as this connection is: its descriptor stays open.
  } else {
    reply = Refusal(lease.status());
  }
  // A client that never reads its answers fills its socket and is dropped: nothing here waits.
  return wire::SendFrame(socket, wire::EncodeLeaseReply(reply), descriptor).ok();
}

void LeaseServer::Drop(int socket) {
  const auto connection = connections_.find(socket);
  for (const LeaseId id : connection->second->leases) leases_->Release(id);
  close(socket);
  connections_.erase(connection);
}

}  // namespace shoal::service
