#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/net/connection_table.h"
#include "server/net/descriptor.h"
#include "server/net/listener.h"

namespace shoal::net {

/// A thread that accepts connections and hands them on, and never more than so many at once.
///
/// Thread-safety: all calls from one thread.
class Acceptor {
 public:
  struct Options {
    /// Whoever comes when so many are open is hung up on, and so never waits in vain.
    int64_t connections_max = INT64_MAX;
    /// Owns the socket from then on; called by the thread. `listener` is its index.
    absl::AnyInvocable<void(size_t listener, Descriptor socket)> accepted;
    /// A connection was refused; called by the thread. May be empty.
    std::function<void()> refused;
  };

  /// Errors: RESOURCE_EXHAUSTED  no descriptor or no thread is left for it.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Start(std::vector<Listener> listeners,
                                                         Options options);
  ~Acceptor();

  /// Closes the listeners; nothing is handed on once it returns. May be repeated.
  void Stop();

  /// After Stop: what was handed on and is open.
  ConnectionTable& connections() { return connections_; }

 private:
  Acceptor(std::vector<Listener> listeners, Options options, Descriptor wake);
  void Run();
  void AcceptFrom(size_t index);
  bool HasRoom();

  std::vector<Listener> listeners_;
  Options options_;
  const Descriptor wake_;  // An eventfd: time to stop.
  ConnectionTable connections_;
  std::chrono::steady_clock::time_point next_sweep_{};
  std::thread thread_;
};

}  // namespace shoal::net
