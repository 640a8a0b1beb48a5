#include "server/app/sockets.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace shoal::app {

absl::StatusOr<SocketDirectory> SocketDirectory::Make(const std::string& path,
                                                      const std::string& temporary) {
  const auto unavailable = [](const std::string& name) {
    return absl::UnavailableError(absl::StrCat("socket directory ", name, ": ", strerror(errno)));
  };
  if (path.empty()) {
    std::string made = absl::StrCat(temporary, "/shoal-XXXXXX");
    if (mkdtemp(made.data()) == nullptr) return unavailable(made);
    return SocketDirectory(std::move(made), true, -1);
  }
  const bool made = mkdir(path.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) return unavailable(path);
  const int lock = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) return unavailable(path);
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return absl::UnavailableError(
        absl::StrCat("socket directory ", path, ": another server has its sockets there"));
  }
  SocketDirectory directory(path, made, lock);
  // Left by a server that was killed: a living one would have the lock.
  unlink(directory.grpc_socket().c_str());
  unlink(directory.lease_socket().c_str());
  return directory;
}

SocketDirectory::SocketDirectory(SocketDirectory&& other) noexcept
    : path_(std::exchange(other.path_, "")),
      owned_(other.owned_),
      lock_(std::exchange(other.lock_, -1)) {}

SocketDirectory& SocketDirectory::operator=(SocketDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(owned_, other.owned_);
  std::swap(lock_, other.lock_);
  return *this;
}

SocketDirectory::~SocketDirectory() {
  Remover()();
  if (lock_ >= 0) close(lock_);
}

std::function<void()> SocketDirectory::Remover() const {
  if (path_.empty()) return [] {};
  return [path = path_, sockets = std::vector{grpc_socket(), lease_socket()}, owned = owned_] {
    for (const std::string& socket : sockets) unlink(socket.c_str());
    if (owned) rmdir(path.c_str());
  };
}

}  // namespace shoal::app
