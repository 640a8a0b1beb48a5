#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/config.h"
#include "server/app/sockets.h"
#include "server/runtime/engine.h"
#include "server/service/cluster_service.h"
#include "server/service/lease_server.h"
#include "server/telemetry/http.h"
#include "server/telemetry/log.h"
#include "server/telemetry/log_limiter.h"
#include "server/telemetry/metrics.h"
#include "server/telemetry/throughput.h"
#include "server/threads/team.h"
#include "server/transport/server.h"

namespace shoal::app {

/// A whole front end with embedded workers, wired together and serving.
class FrontEnd {
 public:
  /// Serves from when it returns.
  ///
  /// Errors:
  ///   UNAVAILABLE         an address or socket cannot be bound.
  ///   RESOURCE_EXHAUSTED  no address space for the payload memory, no descriptor or no thread.
  static absl::StatusOr<std::unique_ptr<FrontEnd>> Start(const Config& config);
  /// Stops at once if Shutdown was not called.
  ~FrontEnd();

  int port() const { return server_->Ports()[0]; }
  int http_port() const { return http_ == nullptr ? -1 : http_->port(); }
  const std::string& unix_socket() const { return facts_.unix_socket; }
  const SocketDirectory& sockets() const { return sockets_; }
  telemetry::Logger& logger() { return logger_; }

  /// Health says NOT_SERVING, nothing new is admitted; calls under way go on. May be repeated.
  void BeginDrain();

  /// BeginDrain, then waits for calls under way at most `grace`, and stops.
  void Shutdown(Duration grace);

 private:
  explicit FrontEnd(const Config& config);
  absl::Status BuildEngine(const Config& config);
  absl::Status Listen(const Config& config);
  absl::Status ListenHttp(const Config& config);
  void SetHealth(bool serving);
  telemetry::ServiceGauges Gauges() const;

  telemetry::Logger logger_;
  telemetry::LogLimiter refusals_{/*per_second=*/0.2, /*burst=*/1};
  telemetry::ThroughputTable throughput_;
  threads::Team copiers_;  ///< Share out what moves between the workers.
  runtime::Engine engine_;
  service::ServerFacts facts_;
  SocketDirectory sockets_;
  std::unique_ptr<service::LeaseServer> lease_server_;
  std::unique_ptr<transport::Server> server_;
  std::vector<std::string> service_names_;  // Those that health knows.
  std::unique_ptr<telemetry::ServiceMetrics> metrics_;
  std::unique_ptr<telemetry::HttpServer> http_;
  std::atomic<bool> serving_ = false;
  bool stopped_ = false;
};

}  // namespace shoal::app
