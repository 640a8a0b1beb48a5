#pragma once

#include <sys/uio.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/subject.h"

namespace shoal::bench {

/// An open socket; closes with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

struct Listener {
  Socket socket;
  std::string address;  ///< "127.0.0.1:PORT", or "@NAME" in Linux's abstract Unix name space.
};

/// Listens on a free loopback port ("tcp") or a fresh abstract Unix name ("unix").
absl::StatusOr<Listener> Listen(const std::string& plane);

/// Connects to what `Listener::address` names. Small writes are not held back (TCP_NODELAY).
absl::StatusOr<Socket> Connect(const std::string& address);

/// Fills `bytes`. Errors: UNAVAILABLE  the peer closed, or the connection broke.
absl::Status ReadAll(const Socket& socket, Bytes bytes);

/// At least one byte, as many as there are, at most `bytes.size()`; which must not be 0.
absl::StatusOr<size_t> ReadSome(const Socket& socket, Bytes bytes);

/// Sends all pieces, in one system call where they fit.
absl::Status WriteAll(const Socket& socket, const wire::Pieces& message);

/// Sends `message`, and fills `reply` meanwhile: a payload larger than the sockets' buffers would
/// otherwise stop both ends for ever.
absl::Status Exchange(const Socket& socket, const wire::Pieces& message, Bytes reply);

}  // namespace shoal::bench
