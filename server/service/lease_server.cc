#include "server/service/lease_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "server/memory/shortage.h"

namespace shoal::service {
namespace {

constexpr size_t kLeasesPerConnectionMax = 256;

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

absl::StatusOr<std::unique_ptr<LeaseServer>> LeaseServer::Start(const Options& options,
                                                                runtime::Leases* leases,
                                                                telemetry::Logger* logger) {
  SHOAL_ASSIGN_OR_RETURN(net::Listener listener, net::Listener::Unix(options.path, 0600));
  net::Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) {
    return absl::ResourceExhaustedError(absl::StrCat("no descriptor: ", strerror(errno)));
  }
  std::unique_ptr<LeaseServer> server(
      new LeaseServer(options, {std::move(listener), std::move(wake)}, leases, logger));
  SHOAL_ASSIGN_OR_RETURN(server->thread_, StartThread([self = server.get()] { self->Run(); }));
  return server;
}

LeaseServer::LeaseServer(const Options& options, Sockets sockets, runtime::Leases* leases,
                         telemetry::Logger* logger)
    : options_(options), sockets_(std::move(sockets)), leases_(leases), logger_(logger) {}

LeaseServer::~LeaseServer() {
  if (!thread_.joinable()) return;  // It did not start.
  eventfd_write(sockets_.wake.fd(), 1);
  thread_.join();
  while (!connections_.empty()) Drop(connections_.begin()->first);
}

void LeaseServer::Run() {
  std::vector<pollfd> watched;
  for (;;) {
    watched = {{sockets_.wake.fd(), POLLIN, 0}, {sockets_.listener.PollFd(), POLLIN, 0}};
    for (const auto& [socket, connection] : connections_) watched.push_back({socket, POLLIN, 0});
    const bool rests = sockets_.listener.resting();
    poll(watched.data(), watched.size(), rests ? net::Listener::kRestMs : -1);
    if (watched[0].revents != 0) return;
    for (size_t i = 2; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      const auto connection = connections_.find(watched[i].fd);
      if (!Serve(connection->first, connection->second.get())) Drop(connection->first);
    }
    if (watched[1].revents != 0 || rests) Accept();
  }
}

void LeaseServer::Accept() {
  std::optional<net::Descriptor> socket = sockets_.listener.Accept();
  if (!socket.has_value()) return;
  if (!IsOwnUser(socket->fd())) {
    logger_->Warning("lease socket: a process of another user was refused");
    return;
  }
  if (static_cast<int64_t>(connections_.size()) >= options_.connections_max) {
    logger_->LogLimited(refusals_, telemetry::LogLevel::kWarning,
                        "lease socket: connection refused: too many");
    return;
  }
  connections_[socket->Release()] = std::make_unique<Connection>();
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
  } else if (leases_->count() >= options_.leases_max) {
    reply = Refusal(absl::ResourceExhaustedError("too many leases"));
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
