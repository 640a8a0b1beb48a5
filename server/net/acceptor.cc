#include "server/net/acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/start_thread.h"

namespace shoal::net {
namespace {

// So many from one listener before the others have their turn.
constexpr int kAcceptsInARow = 64;
// A flood of refused connections must not buy a walk over the table with each.
constexpr std::chrono::milliseconds kSweepInterval(20);

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Start(std::vector<Listener> listeners,
                                                          Options options) {
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) {
    return absl::ResourceExhaustedError(absl::StrCat("no descriptor: ", strerror(errno)));
  }
  std::unique_ptr<Acceptor> acceptor(
      new Acceptor(std::move(listeners), std::move(options), std::move(wake)));
  auto thread = StartThread([self = acceptor.get()] { self->Run(); });
  if (!thread.ok()) return thread.status();
  acceptor->thread_ = *std::move(thread);
  return acceptor;
}

Acceptor::Acceptor(std::vector<Listener> listeners, Options options, Descriptor wake)
    : listeners_(std::move(listeners)), options_(std::move(options)), wake_(std::move(wake)) {}

Acceptor::~Acceptor() { Stop(); }

void Acceptor::Stop() {
  if (!thread_.joinable()) return;
  eventfd_write(wake_.fd(), 1);
  thread_.join();
  listeners_.clear();
}

void Acceptor::Run() {
  std::vector<pollfd> watched;
  for (;;) {
    watched = {{wake_.fd(), POLLIN, 0}};
    bool rests = false;
    for (const Listener& listener : listeners_) {
      watched.push_back({listener.PollFd(), POLLIN, 0});
      rests = rests || listener.resting();
    }
    poll(watched.data(), watched.size(), rests ? Listener::kRestMs : -1);
    if (watched[0].revents != 0) return;
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (watched[i + 1].revents != 0 || listeners_[i].resting()) AcceptFrom(i);
    }
  }
}

void Acceptor::AcceptFrom(size_t index) {
  Listener& listener = listeners_[index];
  for (int i = 0; i < kAcceptsInARow; ++i) {
    const int64_t refused_before = listener.refused_count();
    std::optional<Descriptor> socket = listener.Accept();
    const bool is_refused =
        listener.refused_count() != refused_before || (socket.has_value() && !HasRoom());
    if (is_refused) {
      if (options_.refused) options_.refused();
      continue;
    }
    if (!socket.has_value()) return;
    connections_.Add(socket->fd());
    options_.accepted(index, *std::move(socket));
  }
}

bool Acceptor::HasRoom() {
  if (connections_.count() < options_.connections_max) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_sweep_) return false;
  next_sweep_ = now + kSweepInterval;
  return connections_.Sweep() < options_.connections_max;
}

}  // namespace shoal::net
