#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace shoal::testing {

/// A TCP proxy on loopback that cuts connections: both ends see a reset.
///
/// Thread-safety: all methods from any thread.
class TcpProxy {
 public:
  /// Forwards to 127.0.0.1:`port`.
  explicit TcpProxy(int port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::string address() const;

  /// From now on, the connections that carry bytes are cut after so many of them, both ways
  /// together, one after the other; those that follow are not.
  void CutAfter(std::deque<int64_t> bytes);
  /// Of the cuts that were asked for, those not made yet.
  int64_t cuts_left() const;

 private:
  void Accept();
  void Forward(int client);
  bool Pass(int from, int to);
  bool CutNow(int64_t bytes);

  const int port_;
  int listener_ = -1;
  int own_port_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::deque<int64_t> cuts_;
  std::vector<std::thread> threads_;
  std::thread accept_thread_;
};

}  // namespace shoal::testing
