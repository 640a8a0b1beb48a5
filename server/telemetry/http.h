#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace shoal::telemetry {

/// The HTTP port for probes and scrapers.
///
/// GET (and HEAD) of
///   /metrics  what `metrics` returns, as Prometheus' text format 0.0.4;
///   /healthz  200 while the process lives;
///   /readyz   200 while `ready` says OK, else 503 with its message;
///   any other path: 404.
///
/// Each answer ends its connection: with two threads, idle connections that scrapers keep would
/// shut out the probes.
///
/// Threads: one that accepts, two that answer and call the callbacks. While one lives, SIGPIPE is
/// ignored in the whole process (the library sets that).
class HttpServer {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    int port = 0;  ///< 0 picks a free one.
    std::function<std::string()> metrics = [] { return std::string(); };
    std::function<absl::Status()> ready = [] { return absl::OkStatus(); };
  };

  /// Serves from when it returns.
  ///
  /// Errors:
  ///   UNAVAILABLE  the host is unknown, or the port is taken or not permitted.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options);

  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port in use.
  int port() const;

  /// Closes the port and returns when no request is being answered: at once when idle, after the
  /// timeouts (seconds) at most. Calling it again does nothing. Not from a callback.
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::telemetry
