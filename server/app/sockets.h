#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace shoal::app {

/// A directory for the Unix sockets. One that this makes only its own user can enter, and goes with
/// the object; from one that was there only the sockets go.
class SocketDirectory {
 public:
  /// `path`, made if it is not there; empty: a new one in `temporary`.
  ///
  /// Errors: UNAVAILABLE  it cannot be made, or another living server has its sockets there.
  static absl::StatusOr<SocketDirectory> Make(const std::string& path,
                                              const std::string& temporary);

  SocketDirectory() = default;
  SocketDirectory(SocketDirectory&& other) noexcept;
  SocketDirectory& operator=(SocketDirectory&& other) noexcept;
  ~SocketDirectory();

  /// What the destructor does, for a process that ends without one.
  std::function<void()> Remover() const;

  std::string grpc_socket() const { return path_ + "/grpc.sock"; }
  std::string lease_socket() const { return path_ + "/lease.sock"; }

 private:
  SocketDirectory(std::string path, bool owned, int lock)
      : path_(std::move(path)), owned_(owned), lock_(lock) {}

  std::string path_;
  bool owned_ = false;  // We made the directory, and take it away.
  int lock_ = -1;       // Of the directory, while this lives.
};

}  // namespace shoal::app
