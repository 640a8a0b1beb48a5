#include "server/net/connection_table.h"

#include <sys/socket.h>
#include <sys/stat.h>

namespace shoal::net {
namespace {

/// 0: not a socket.
uint64_t InodeOf(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) return 0;
  return status.st_ino;
}

}  // namespace

// A number that is handed out again was closed before: its old entry goes with this.
void ConnectionTable::Add(int fd) { inodes_[fd] = InodeOf(fd); }

int64_t ConnectionTable::Sweep() {
  std::erase_if(inodes_, [](const auto& entry) { return InodeOf(entry.first) != entry.second; });
  return count();
}

int64_t ConnectionTable::EndInput() {
  Sweep();
  // One may be closed in between, and its number taken by another socket. Whoever calls this is
  // about to end those too.
  for (const auto& [fd, inode] : inodes_) shutdown(fd, SHUT_RD);
  return count();
}

}  // namespace shoal::net
