#pragma once

#include <cstdint>
#include <map>

namespace shoal::net {

/// The connections that were handed to a library which closes them without a word.
///
/// Each is known by its descriptor and by the socket's inode, so that one that was closed, and
/// whose number serves something else by now, is told apart.
///
/// Thread-safety: one thread at a time.
class ConnectionTable {
 public:
  /// Notes the socket `fd`, which its owner has not closed yet.
  void Add(int fd);

  /// Forgets those that are closed; how many are left.
  int64_t Sweep();

  /// As of the last Sweep, and those added since.
  int64_t count() const { return static_cast<int64_t>(inodes_.size()); }

  /// Tells the owners of those that are open that their peers will send no more; how many they
  /// are. An owner may find data that still comes in and sleep again: repeat it.
  int64_t EndInput();

 private:
  std::map<int, uint64_t> inodes_;  // By descriptor.
};

}  // namespace shoal::net
