#include "server/telemetry/http.h"

#include <httplib.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace shoal::telemetry {
namespace {

constexpr size_t kThreads = 2;
constexpr int kBacklog = 64;
constexpr size_t kPayloadMax = 1024;  // No request of ours has a body.
constexpr std::chrono::seconds kTimeout(2);
constexpr char kPlain[] = "text/plain; charset=utf-8";
constexpr char kPrometheus[] = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {
    // The library's own default is SO_REUSEPORT, with which two services would share a port
    // without a word, each getting half of the requests.
    server_.set_socket_options([this](int socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
      socket_ = socket;
    });
    server_.set_keep_alive_max_count(1);
    server_.set_read_timeout(kTimeout);
    server_.set_write_timeout(kTimeout);
    server_.set_payload_max_length(kPayloadMax);
    server_.set_default_headers({{"Cache-Control", "no-store"}});
    server_.new_task_queue = [this] {
      running_.set_value();
      return new httplib::ThreadPool(kThreads);
    };
    AddRoutes();
  }

  absl::Status Start() {
    errno = 0;
    const bool bound = options_.port == 0
                           ? (port_ = server_.bind_to_any_port(options_.host)) > 0
                           : server_.bind_to_port(options_.host, port_ = options_.port);
    if (!bound) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen for HTTP on ", options_.host, ":", options_.port, ": ",
                       errno != 0 ? std::strerror(errno) : "no such address"));
    }
    // The library listens with room for 5; a sixth that comes at once would try again after 1 s.
    ::listen(socket_, kBacklog);
    listener_ = std::jthread([this] { server_.listen_after_bind(); });
    running_.get_future().wait();  // Before that, stop() would do nothing.
    return absl::OkStatus();
  }

  void Stop() {
    if (!listener_.joinable()) return;
    server_.stop();
    listener_.join();
  }

  int port() const { return port_; }

 private:
  void AddRoutes() {
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(options_.metrics(), kPrometheus);
    });
    server_.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", kPlain);
    });
    server_.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      const absl::Status ready = options_.ready();
      if (!ready.ok()) response.status = 503;
      response.set_content(ready.ok() ? "ok\n" : absl::StrCat(ready.message(), "\n"), kPlain);
    });
  }

  const Options options_;
  httplib::Server server_;
  std::promise<void> running_;
  int port_ = 0;
  int socket_ = -1;  // The library's: the one it bound last.
  std::jthread listener_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (absl::Status started = impl->Start(); !started.ok()) return started;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port(); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace shoal::telemetry
