#pragma once

#include <cstddef>

#include "absl/types/span.h"

namespace shoal::internal {

/// The rpcs that this library calls: each a place in MethodPaths().
enum class Method : size_t {
  kEcho,
  kApply,
  kDescribe,
  kList,
  kFree,
  kRedistribute,
  kGetServerInfo,
  kGetThroughput,
  kListWorkers,
  kDrain,
  kApplyStream,
  kPut,
  kGet,
  kSession,
};

constexpr size_t IndexOf(Method method) { return static_cast<size_t>(method); }

/// "/shoal.v1.ComputeService/Echo" and so on. Lives for ever.
absl::Span<const char* const> MethodPaths();

}  // namespace shoal::internal
