#pragma once

#include <unistd.h>

#include <utility>

namespace shoal::net {

/// Owns a file descriptor, or none (-1).
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  bool valid() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  /// The descriptor, which the caller owns from now on.
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (valid()) close(Release());
  }

 private:
  int fd_ = -1;
};

}  // namespace shoal::net
