#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "bench/tasks/flooder.h"

namespace shoal::bench {

struct PeerOptions {
  std::string name;     ///< "ipyparallel" or "dask".
  std::string python;   ///< An interpreter that has its package.
  std::string script;   ///< Empty: the one that lies beside this program's folder.
  int64_t workers = 2;  ///< Processes that run its tasks.
  int64_t count_max = 2000;
  /// Of each flood, and of its start with the trying of its two ways.
  Duration timeout = std::chrono::minutes(2);
};

/// Empty tasks through another system, whose cluster and client are a program of bench/peers. It
/// is started here, outside of every clock, and ended with the flooder or when a flood fails;
/// its files lie in a folder of their own that is then removed.
///
/// Errors:
///   FAILED_PRECONDITION  no such interpreter, or it lacks the package.
///   NOT_FOUND            no script.
///   DEADLINE_EXCEEDED    it did not start in time, and was ended.
///   ABORTED, UNAVAILABLE it failed, or printed what it should not.
///
/// Flood has the last two of these errors; the flooder is then of no more use.
absl::StatusOr<std::unique_ptr<Flooder>> NewPeerFlooder(const PeerOptions& options);

}  // namespace shoal::bench
