#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "bench/kernels/judge.h"
#include "bench/kernels/rounds.h"
#include "bench/kernels/shared_memory.h"
#include "bench/process/child.h"

namespace shoal::bench {

/// What is compared with: "numpy" (as mostly written), "numpy_out" (no allocations), "numexpr",
/// "torch".
std::vector<std::string> AllArrayPeers();

struct ArrayPeerOptions {
  std::string python;
  std::string script;                 ///< Empty: array_kernels.py where it lies when installed.
  std::vector<std::string> subjects;  ///< Of AllArrayPeers.
  int64_t threads = 1;                ///< Of those that have threads.
  Duration timeout = std::chrono::minutes(2);  ///< For an answer.
};

/// Python's array libraries, in a process of their own (bench/peers/array_kernels.py). Inputs and
/// results pass through shared memory, outside of every clock.
///
/// Errors of all that return a status:
///   DEADLINE_EXCEEDED   no answer came in time.
///   UNAVAILABLE         the process has ended.
///   ABORTED             it answers with an error, or with what it should not.
/// Thread-safety: one thread at a time.
class ArrayPeer {
 public:
  /// Starts it and waits until it is there. `memory` holds the largest array, and outlives it.
  ///
  /// Errors:
  ///   NOT_FOUND  no script, no such interpreter, or it cannot import NumPy.
  static absl::StatusOr<std::unique_ptr<ArrayPeer>> Start(const ArrayPeerOptions& options,
                                                          SharedMemory* memory);

  /// Versions by name: "python", and the libraries that are there.
  const std::map<std::string, std::string>& versions() const { return versions_; }

  /// Gives it an input, "x" or "y".
  absl::Status Load(const std::string& name, const Elements& input);

  /// Has it ready for a case of these inputs; those of the subjects that can do it.
  absl::StatusOr<std::vector<std::string>> Prepare(const std::string& which);

  /// The subject does the case so many times; seconds that one took.
  absl::StatusOr<double> Burst(const std::string& subject, int64_t calls);

  /// What the subject's last burst gave. Lies in the shared memory until the next call.
  absl::StatusOr<Elements> Result(const std::string& subject);

  /// Frees its arrays.
  absl::Status Drop() { return Ask("drop").status(); }

 private:
  ArrayPeer(std::unique_ptr<Child> child, Duration timeout, SharedMemory* memory)
      : child_(std::move(child)), timeout_(timeout), memory_(memory) {}

  absl::Status AwaitReady();
  absl::StatusOr<nlohmann::json> Ask(const std::string& line);

  const std::unique_ptr<Child> child_;
  const Duration timeout_;
  SharedMemory* const memory_;
  std::map<std::string, std::string> versions_;
};

/// One of its subjects as one that takes its turn in rounds. Borrows the peer.
std::unique_ptr<Contender> NewPeerContender(ArrayPeer* peer, const std::string& subject);

}  // namespace shoal::bench
