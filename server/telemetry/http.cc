#include "server/telemetry/http.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "server/net/listener.h"
#include "server/telemetry/http_text.h"

namespace shoal::telemetry {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kConnectionsMax = 64;
constexpr size_t kRequestBytesMax = 8192;
// What is thrown away of a body nobody asked for, so that its sender hears the answer first.
constexpr size_t kDiscardedBytesMax = 1 << 20;
// For the request, for the answer, and for the end.
constexpr std::chrono::seconds kTimeout(5);
constexpr char kPrometheus[] = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}
  ~Impl() { Stop(); }

  absl::Status Start() {
    const bool is_ipv6 = absl::StrContains(options_.host, ":");
    SHOAL_ASSIGN_OR_RETURN(
        listeners_,
        net::Listener::Tcp(is_ipv6 ? absl::StrCat("[", options_.host, "]:", options_.port)
                                   : absl::StrCat(options_.host, ":", options_.port)));
    port_ = listeners_.front().port();
    wake_ = net::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_.valid()) return absl::ResourceExhaustedError("no descriptor for HTTP");
    SHOAL_ASSIGN_OR_RETURN(thread_, StartThread([this] { Run(); }));
    return absl::OkStatus();
  }

  void Stop() {
    if (!thread_.joinable()) return;
    eventfd_write(wake_.fd(), 1);
    thread_.join();
    connections_.clear();
    listeners_.clear();
  }

  int port() const { return port_; }

 private:
  struct Connection {
    enum class State : uint8_t { kReading, kWriting, kEnding };

    net::Descriptor socket;
    State state = State::kReading;
    Clock::time_point deadline;
    std::string request;
    std::string response;
    size_t sent_bytes = 0;
    size_t discarded_bytes = 0;

    void Enter(State next) {
      state = next;
      deadline = Clock::now() + kTimeout;
    }
  };

  void Run() {
    std::vector<pollfd> watched;
    for (;;) {
      Watch(&watched);
      poll(watched.data(), watched.size(), TimeoutMs());
      if (watched[0].revents != 0) return;
      size_t next = 1 + listeners_.size();
      const Clock::time_point now = Clock::now();
      for (auto at = connections_.begin(); at != connections_.end();) {
        const bool is_ready = watched[next++].revents != 0;
        const bool lives = is_ready ? Advance(&*at) : now < at->deadline;
        at = lives ? std::next(at) : connections_.erase(at);
      }
      for (size_t i = 0; i < listeners_.size(); ++i) {
        if (watched[1 + i].revents != 0 || listeners_[i].resting()) Accept(&listeners_[i]);
      }
    }
  }

  void Watch(std::vector<pollfd>* watched) const {
    *watched = {{wake_.fd(), POLLIN, 0}};
    for (const net::Listener& listener : listeners_) {
      watched->push_back({listener.PollFd(), POLLIN, 0});
    }
    for (const Connection& connection : connections_) {
      const bool writes = connection.state == Connection::State::kWriting;
      watched->push_back({connection.socket.fd(), writes ? short{POLLOUT} : short{POLLIN}, 0});
    }
  }

  /// Until the first deadline; -1 where there is none.
  int TimeoutMs() const {
    for (const net::Listener& listener : listeners_) {
      if (listener.resting()) return net::Listener::kRestMs;
    }
    if (connections_.empty()) return -1;
    Clock::time_point first = Clock::time_point::max();
    for (const Connection& connection : connections_) first = std::min(first, connection.deadline);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
  }

  void Accept(net::Listener* listener) {
    std::optional<net::Descriptor> socket = listener->Accept();
    if (!socket.has_value()) return;
    // Who is served needs a moment; the oldest is the one that has been saying nothing for longest.
    if (connections_.size() >= kConnectionsMax) connections_.pop_front();
    Connection& connection = connections_.emplace_back();
    connection.socket = *std::move(socket);
    connection.Enter(Connection::State::kReading);
  }

  /// Does what can be done without waiting; false: it is over.
  bool Advance(Connection* connection) {
    switch (connection->state) {
      case Connection::State::kReading:
        return Read(connection);
      case Connection::State::kWriting:
        return Write(connection);
      case Connection::State::kEnding:
        return Discard(connection);
    }
    return false;
  }

  bool Read(Connection* connection) {
    std::array<char, 4096> piece;
    const ssize_t received = recv(connection->socket.fd(), piece.data(), piece.size(), 0);
    if (received < 0) return errno == EAGAIN || errno == EINTR;
    if (received == 0) return false;
    connection->request.append(piece.data(), static_cast<size_t>(received));
    const auto request = ParseRequest(connection->request);
    if (!request.has_value() && connection->request.size() < kRequestBytesMax) return true;
    const HttpResponse response =
        request.has_value() ? Answer(*request) : HttpResponse{.status = 431, .body = "too long\n"};
    connection->response =
        ResponseText(response, !request.has_value() || request->method != "HEAD");
    connection->Enter(Connection::State::kWriting);
    return Write(connection);
  }

  HttpResponse Answer(const HttpRequest& request) const {
    if (request.method.empty()) return {.status = 400, .body = "not HTTP/1\n"};
    if (request.method != "GET" && request.method != "HEAD") {
      return {.status = 405, .body = "only GET and HEAD\n"};
    }
    if (request.path == "/metrics") {
      return {.content_type = kPrometheus, .body = options_.metrics()};
    }
    if (request.path == "/healthz") return {.body = "ok\n"};
    if (request.path != "/readyz") return {.status = 404, .body = "no such page\n"};
    const absl::Status ready = options_.ready();
    if (ready.ok()) return {.body = "ok\n"};
    return {.status = 503, .body = absl::StrCat(ready.message(), "\n")};
  }

  static bool Write(Connection* connection) {
    const std::string& response = connection->response;
    const ssize_t sent = send(connection->socket.fd(), response.data() + connection->sent_bytes,
                              response.size() - connection->sent_bytes, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    connection->sent_bytes += static_cast<size_t>(sent);
    if (connection->sent_bytes < response.size()) return true;
    // Closed with bytes unread, the connection would be reset, and the answer lost with it.
    shutdown(connection->socket.fd(), SHUT_WR);
    connection->Enter(Connection::State::kEnding);
    return true;
  }

  static bool Discard(Connection* connection) {
    std::array<char, 4096> piece;
    const ssize_t received = recv(connection->socket.fd(), piece.data(), piece.size(), 0);
    if (received < 0) return errno == EAGAIN || errno == EINTR;
    connection->discarded_bytes += static_cast<size_t>(received);
    return received > 0 && connection->discarded_bytes < kDiscardedBytesMax;
  }

  const Options options_;
  std::vector<net::Listener> listeners_;
  int port_ = 0;
  net::Descriptor wake_;               // An eventfd: time to stop.
  std::list<Connection> connections_;  // The oldest first; of the thread.
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  SHOAL_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port(); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace shoal::telemetry
