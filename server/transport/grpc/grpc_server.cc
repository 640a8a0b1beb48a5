#include "server/transport/grpc/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/units.h"
#include "server/transport/grpc/raw_service.h"

namespace shoal::transport {
namespace {

bool IsUnixSocket(const Endpoint& endpoint) { return absl::StartsWith(endpoint.address, "unix:"); }

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(const Endpoint& endpoint) {
  if (!endpoint.tls.has_value()) return grpc::InsecureServerCredentials();
  if (IsUnixSocket(endpoint)) {
    return absl::InvalidArgumentError(
        absl::StrCat(endpoint.address, ": a Unix socket is served without TLS"));
  }
  return absl::UnimplementedError(absl::StrCat(endpoint.address, ": TLS is not built yet"));
}

class GrpcServer final : public Server {
 public:
  explicit GrpcServer(std::vector<ServiceTable> services) {
    for (ServiceTable& service : services) {
      services_.push_back(std::make_unique<RawService>(std::move(service)));
    }
  }

  absl::Status Start(const ServerOptions& options) {
    grpc::ServerBuilder builder;
    Configure(options, &builder);
    const auto& endpoints = options.endpoints;
    ports_.resize(endpoints.size(), 0);
    for (size_t i = 0; i < endpoints.size(); ++i) {
      SHOAL_ASSIGN_OR_RETURN(auto credentials, CredentialsOf(endpoints[i]));
      builder.AddListeningPort(endpoints[i].address, std::move(credentials), &ports_[i]);
    }
    for (const auto& service : services_) builder.RegisterService(service.get());
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::UnavailableError(absl::StrCat(
          "cannot listen on ",
          absl::StrJoin(endpoints, ", ", [](std::string* text, const Endpoint& endpoint) {
            text->append(endpoint.address);
          })));
    }
    SetServing("", false);  // The library begins with the opposite.
    for (size_t i = 0; i < ports_.size(); ++i) {
      if (IsUnixSocket(endpoints[i])) ports_[i] = 0;
    }
    return absl::OkStatus();
  }

  const std::vector<int>& Ports() const override { return ports_; }

  void SetServing(const std::string& name, bool serving) override {
    server_->GetHealthCheckService()->SetServingStatus(name, serving);
  }

  void Shutdown(Duration grace) override {
    using std::chrono::system_clock;
    const system_clock::time_point now = system_clock::now();
    // An infinite grace must not wrap around to one that is over.
    server_->Shutdown(grace < system_clock::time_point::max() - now
                          ? now + std::chrono::duration_cast<system_clock::duration>(grace)
                          : system_clock::time_point::max());
    server_->Wait();
  }

 private:
  static void Configure(const ServerOptions& options, grpc::ServerBuilder* builder) {
    builder->SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes_max));
    builder->SetMaxSendMessageSize(-1);
    // Chunks are of 1 MiB: one frame each, instead of 64 of the default 16 KiB.
    builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, static_cast<int>(kMiB));
    builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                                options.streams_per_connection_max);
    builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
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

  std::vector<std::unique_ptr<RawService>> services_;
  std::vector<int> ports_;
  std::unique_ptr<grpc::Server> server_;  // Last: it uses the services until it is gone.
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
