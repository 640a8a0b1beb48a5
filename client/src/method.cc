#include "client/src/method.h"

#include <iterator>

namespace shoal::internal {
namespace {

constexpr const char* kPaths[] = {
    "/shoal.v1.ComputeService/Echo",
    "/shoal.v1.ComputeService/Apply",
    "/shoal.v1.ArrayService/Describe",
    "/shoal.v1.ArrayService/List",
    "/shoal.v1.ArrayService/Free",
    "/shoal.v1.ArrayService/Redistribute",
    "/shoal.v1.ClusterService/GetServerInfo",
    "/shoal.v1.ClusterService/GetThroughput",
    "/shoal.v1.ClusterService/ListWorkers",
    "/shoal.v1.ClusterService/Drain",
    "/shoal.v1.ComputeService/ApplyStream",
    "/shoal.v1.ArrayService/Put",
    "/shoal.v1.ArrayService/Get",
    "/shoal.v1.ComputeService/Session",
};
static_assert(std::size(kPaths) == IndexOf(Method::kSession) + 1, "one path a method");

}  // namespace

absl::Span<const char* const> MethodPaths() { return kPaths; }

}  // namespace shoal::internal
