#pragma once

#include <cstddef>

namespace shoal::transport {

/// The methods that these tests call, and their places.
inline constexpr const char* kMethods[] = {"/shoal.v1.ClusterService/GetServerInfo",
                                           "/shoal.v1.ComputeService/Session",
                                           "/shoal.v1.ArrayService/Put"};
inline constexpr size_t kGetServerInfo = 0;
inline constexpr size_t kSession = 1;
inline constexpr size_t kPut = 2;

}  // namespace shoal::transport
