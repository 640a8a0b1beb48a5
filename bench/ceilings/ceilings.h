#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/subject.h"

namespace shoal::bench {

/// The ceilings of the sweep, in the order of its columns.
std::vector<std::string> CeilingNames();

/// The ceiling of that name, its server started. Those of gRPC go over the transport that Shoal's
/// `plane` uses for gRPC: TCP for "tcp", else a Unix socket.
///
/// Errors:
///   INVALID_ARGUMENT  no such ceiling.
///   others            its server did not start.
absl::StatusOr<std::unique_ptr<Subject>> NewCeiling(const std::string& name,
                                                    const std::string& plane);

}  // namespace shoal::bench
