#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::internal::transport {

/// The rpcs that this library calls, the unary ones first.
enum class Method : uint8_t {
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
  // With streams.
  kApplyStream,
  kPut,
  kGet,
  kSession,
};
inline constexpr auto kUnaryMethodCount = static_cast<size_t>(Method::kApplyStream);

/// "/shoal.v1.ComputeService/Echo".
const char* MethodPath(Method method);

}  // namespace shoal::internal::transport
