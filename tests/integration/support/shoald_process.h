#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace shoal::testing {

/// A real shoald on free ports; killed when this goes, if it still runs.
class ShoaldProcess {
 public:
  /// Ready to serve when it returns. Null, with a test failure, if it does not get there.
  static std::unique_ptr<ShoaldProcess> Start(const std::vector<std::string>& options = {});
  ShoaldProcess(const ShoaldProcess&) = delete;
  ShoaldProcess& operator=(const ShoaldProcess&) = delete;
  ~ShoaldProcess();

  /// "127.0.0.1:PORT".
  const std::string& address() const { return address_; }
  int port() const;

  /// SIGTERM; true if it then ends with 0.
  bool Stop();
  void Kill();

 private:
  ShoaldProcess() = default;
  bool ReadBanner();

  pid_t pid_ = -1;
  int output_ = -1;
  std::string address_;
};

}  // namespace shoal::testing
