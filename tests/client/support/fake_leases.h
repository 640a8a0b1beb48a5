#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace shoal::testing {

/// A lease socket that lends memfds without a budget, except that leases above `bytes_max` are
/// refused.
class FakeLeases {
 public:
  FakeLeases(std::string path, int64_t bytes_max);
  ~FakeLeases();
  FakeLeases(const FakeLeases&) = delete;
  FakeLeases& operator=(const FakeLeases&) = delete;

  /// The bytes at that place, or null if there is no such lease, or not that much of it.
  std::byte* Find(uint64_t id, uint64_t token, int64_t offset, int64_t bytes);

  int64_t granted_count();
  int64_t held_count();
  /// Closes all connections, as a server that is started anew does.
  void DropAll();

 private:
  struct Lease {
    std::byte* data;
    int64_t bytes;
    uint64_t token;
    int connection;
  };

  void AcceptLoop();
  void Serve(int connection);
  bool Answer(int connection);
  void Forget(int connection);

  const std::string path_;
  const int64_t bytes_max_;
  int listener_;
  std::mutex mutex_;
  std::map<uint64_t, Lease> leases_;
  std::vector<int> connections_;
  uint64_t next_id_ = 1;
  int64_t granted_ = 0;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace shoal::testing
