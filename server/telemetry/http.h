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
///   anything else 404; other methods 405; a head of more than 8 KiB 431. Ranges and other header
///   fields are ignored. Each answer ends its connection.
///
/// Bounds: 64 connections, of which the oldest goes when another comes; 5 s for the request, for
///   the answer, and for the end. Connections that say nothing hold up nobody.
/// Threads: one, which never blocks but in the callbacks that it calls.
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
  ///   UNAVAILABLE         the host is unknown, or the port is taken or not permitted.
  ///   RESOURCE_EXHAUSTED  no descriptor or no thread is left for it.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options);

  /// Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port in use.
  int port() const;

  /// Closes the port and all connections, at once; waits for a callback only. Calling it again does
  /// nothing. Not from a callback.
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::telemetry
