#include "server/transport/grpc/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/units.h"
#include "server/net/acceptor.h"
#include "server/transport/grpc/call_count.h"
#include "server/transport/grpc/raw_service.h"

namespace shoal::transport {
namespace {

using ExternalAcceptor = grpc::experimental::ExternalConnectionAcceptor;

// Who connects and does not say a word of HTTP/2.
constexpr int kHandshakeTimeoutMs = 20'000;
// gRPC ends the process where it cannot have one of its threads; it starts some ten.
constexpr int kLibraryThreads = 24;
// How long gRPC may take to see that its connections have ended; it takes well under a tenth of it.
constexpr int kClosingMs = 1000;

bool IsUnixSocket(const Endpoint& endpoint) { return absl::StartsWith(endpoint.address, "unix:"); }

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(const Endpoint& endpoint) {
  if (!endpoint.tls.has_value()) return grpc::InsecureServerCredentials();
  if (IsUnixSocket(endpoint)) {
    return absl::InvalidArgumentError(
        absl::StrCat(endpoint.address, ": a Unix socket is served without TLS"));
  }
  return absl::UnimplementedError(absl::StrCat(endpoint.address, ": TLS is not built yet"));
}

absl::StatusOr<std::vector<net::Listener>> Listen(const std::string& address) {
  absl::string_view path = address;
  if (!absl::ConsumePrefix(&path, "unix:")) return net::Listener::Tcp(address);
  auto listener = net::Listener::Unix(std::string(path));
  if (!listener.ok()) return listener.status();
  std::vector<net::Listener> listeners;
  listeners.push_back(*std::move(listener));
  return listeners;
}

/// Serves connections that it accepts itself: gRPC 1.51 never listens again once accept has failed
/// for want of descriptors.
class GrpcServer final : public Server {
 public:
  explicit GrpcServer(std::vector<ServiceTable> services) {
    for (ServiceTable& service : services) {
      services_.push_back(std::make_unique<RawService>(std::move(service), &calls_));
    }
  }

  absl::Status Start(const ServerOptions& options) {
    SHOAL_RETURN_IF_ERROR(ProbeThreads(kLibraryThreads));
    grpc::ServerBuilder builder;
    Configure(options, &builder);
    std::vector<net::Listener> listeners;
    for (const Endpoint& endpoint : options.endpoints) {
      SHOAL_ASSIGN_OR_RETURN(auto credentials, CredentialsOf(endpoint));
      SHOAL_ASSIGN_OR_RETURN(std::vector<net::Listener> sockets, Listen(endpoint.address));
      ports_.push_back(sockets.front().port());
      const std::shared_ptr<ExternalAcceptor> door(
          builder.experimental().AddExternalConnectionAcceptor(
              grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
              std::move(credentials)));
      // Owned by each socket of the address.
      doors_.resize(doors_.size() + sockets.size(), door);
      for (net::Listener& socket : sockets) listeners.push_back(std::move(socket));
    }
    for (const auto& service : services_) builder.RegisterService(service.get());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return absl::UnavailableError("gRPC does not start");
    SetServing("", false);  // The library begins with the opposite.
    return Accept(std::move(listeners), options);
  }

  const std::vector<int>& Ports() const override { return ports_; }

  void SetServing(const std::string& name, bool serving) override {
    server_->GetHealthCheckService()->SetServingStatus(name, serving);
  }

  // A request that reaches gRPC after its own Shutdown has begun is answered with CANCELLED, which
  // tells a client nothing. So the connections end first, once what began earlier is over: whoever
  // sends another request on one learns that it is gone (UNAVAILABLE), and goes elsewhere.
  void Shutdown(Duration grace) override {
    acceptor_->Stop();
    calls_.Turn();
    calls_.AwaitEarlier(grace);
    for (int i = 0; i < kClosingMs && acceptor_->connections().EndInput() > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // gRPC tells nobody.
    }
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

 private:
  static void Configure(const ServerOptions& options, grpc::ServerBuilder* builder) {
    builder->SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes_max));
    builder->SetMaxSendMessageSize(-1);
    // Only the identity: a compressed message is blown up before its size is looked at, and payload
    // seldom shrinks. gRPC answers UNIMPLEMENTED, and no filter is there to inflate anything.
    builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
    // Chunks are of 1 MiB: one frame each, instead of 64 of the default 16 KiB.
    builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, static_cast<int>(kMiB));
    builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                                options.streams_per_connection_max);
    builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
    ConfigureKeepalive(options.keepalive, builder);
  }

  static void ConfigureKeepalive(const wire::Keepalive& keepalive, grpc::ServerBuilder* builder) {
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                                static_cast<int>(keepalive.interval.count()));
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                                static_cast<int>(keepalive.timeout.count()));
    builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                                static_cast<int>(keepalive.ping_interval_min.count()));
    // Both to ping clients without calls and to let them ping: else two hours lie between.
    builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    // By default the third ping waits for data to be sent, and an idle stream sends none.
    builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }

  absl::Status Accept(std::vector<net::Listener> listeners, const ServerOptions& options) {
    net::Acceptor::Options accepting;
    accepting.connections_max = options.connections_max;
    accepting.refused = options.connection_refused;
    accepting.accepted = [this, timeout_ms = static_cast<int>(options.keepalive.timeout.count())](
                             size_t listener, net::Descriptor socket) {
      // Sent bytes that nobody acknowledges: what gRPC sets on its own listeners. Not for Unix.
      setsockopt(socket.fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
      ExternalAcceptor::NewConnectionParameters connection;
      connection.fd = socket.Release();
      doors_[listener]->HandleNewConnection(&connection);
    };
    SHOAL_ASSIGN_OR_RETURN(acceptor_,
                           net::Acceptor::Start(std::move(listeners), std::move(accepting)));
    return absl::OkStatus();
  }

  CallCount calls_;
  std::vector<std::unique_ptr<RawService>> services_;
  std::vector<int> ports_;
  std::vector<std::shared_ptr<ExternalAcceptor>> doors_;  // By the index of the listener.
  std::unique_ptr<grpc::Server> server_;                  // It uses the services until it is gone.
  std::unique_ptr<net::Acceptor> acceptor_;               // Last: it uses the server.
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> StartGrpcServer(const ServerOptions& options,
                                                        std::vector<ServiceTable> services) {
  // Never undone: the end of the library waits, for up to ten seconds, for a poller of its own that
  // covers for the last writes.
  grpc_init();
  // Both are switches of the gRPC library for all servers built afterwards.
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto server = std::make_unique<GrpcServer>(std::move(services));
  absl::Status started = server->Start(options);
  if (!started.ok()) return started;
  return server;
}

}  // namespace shoal::transport
