#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "bench/tasks/flooder.h"

namespace shoal::bench {

/// What a program of bench/peers prints after "ready", as a JSON object.
struct PeerAbout {
  std::string version;  ///< "distributed 2026.8.0".
  std::string python;   ///< "3.11.2".
  int64_t workers = 0;
  std::string mode;                     ///< The way it floods: "one_by_one" or "batched".
  std::map<std::string, double> tried;  ///< Tasks a second of both ways. May be empty.

  /// One line for people.
  std::string Text() const;
};

/// Errors:
///   ABORTED  not what such a program prints; the message quotes the line.
absl::StatusOr<PeerAbout> ParsePeerAbout(const std::string& line);

/// What it prints after "flood": the result of `count` tasks.
///
/// Errors:
///   ABORTED  not what such a program prints, or of another number of tasks.
absl::StatusOr<FloodResult> ParsePeerFlood(const std::string& line, int64_t count);

}  // namespace shoal::bench
