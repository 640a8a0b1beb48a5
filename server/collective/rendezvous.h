#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"

namespace shoal::collective {

/// The small store through which the ranks of several processes meet: addresses, NCCL's unique id.
///
/// Keys belong to one group (the maker of the group prefixes them with the group's id).
/// Thread-safety: all calls from any thread. `Get` blocks; keep it off event loops.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  /// Publishes `value`, at most 64 KiB, under `key`.
  ///
  /// Errors:
  ///   ALREADY_EXISTS    the key has a value; it keeps it.
  ///   INVALID_ARGUMENT  the value is too large.
  ///   UNAVAILABLE       the store cannot be reached.
  virtual absl::Status Set(const std::string& key, std::string value) = 0;

  /// Waits until `key` has a value.
  ///
  /// Errors:
  ///   DEADLINE_EXCEEDED  it had none in time.
  ///   CANCELLED          the store was closed.
  ///   UNAVAILABLE        the store cannot be reached.
  virtual absl::StatusOr<std::string> Get(const std::string& key, Duration timeout) = 0;

  /// Forgets every key that begins with `prefix`, once a group has gone.
  virtual void Forget(const std::string& prefix) = 0;
};

/// The store for ranks of one process.
class MemoryRendezvous final : public Rendezvous {
 public:
  absl::Status Set(const std::string& key, std::string value) override;
  absl::StatusOr<std::string> Get(const std::string& key, Duration timeout) override;
  void Forget(const std::string& prefix) override;

  /// Ends every waiting and later `Get` with CANCELLED.
  void Close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  absl::flat_hash_map<std::string, std::string> values_;
  bool closed_ = false;
};

}  // namespace shoal::collective
