#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/shoal/server.h"
#include "bench/subject.h"
#include "kernels/dtype.h"

namespace shoal::bench {

struct ShoalOptions {
  std::string plane = "tcp";     ///< "tcp", "unix", "memfd".
  std::string route = "worker";  ///< "front", "worker", "device".
  std::string function;          ///< The op that kApply names.
  kernels::DType dtype = kernels::DType::kUint8;
  bool checksum = true;
  bool overlap = false;  ///< Calls are made without waiting, on the client's threads.
};

/// Shoal through its C++ client library, a client a lane. `server` outlives the subject.
std::unique_ptr<Subject> NewShoalSubject(const Server* server, ShoalOptions options);

}  // namespace shoal::bench
