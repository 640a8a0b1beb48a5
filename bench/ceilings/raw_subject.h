#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/subject.h"

namespace shoal::bench {

/// The ceilings "raw_tcp" and "raw_unix": blocking sockets with a header before each payload, a
/// connection a lane, the server in its own process.
absl::StatusOr<std::unique_ptr<Subject>> NewRawSubject(const std::string& plane);

/// The ceiling "signal": one byte to another process and one back over a Unix socket.
absl::StatusOr<std::unique_ptr<Subject>> NewSignalSubject();

}  // namespace shoal::bench
