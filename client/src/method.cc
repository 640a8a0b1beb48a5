#include "client/src/method.h"

#include <algorithm>
#include <array>

namespace shoal::internal {
namespace {

struct Row {
  Method method;
  const char* path;
};

constexpr std::array kRows = std::to_array<Row>({
    {Method::kEcho, "/shoal.v1.ComputeService/Echo"},
    {Method::kApply, "/shoal.v1.ComputeService/Apply"},
    {Method::kDescribe, "/shoal.v1.ArrayService/Describe"},
    {Method::kList, "/shoal.v1.ArrayService/List"},
    {Method::kFree, "/shoal.v1.ArrayService/Free"},
    {Method::kRedistribute, "/shoal.v1.ArrayService/Redistribute"},
    {Method::kGetServerInfo, "/shoal.v1.ClusterService/GetServerInfo"},
    {Method::kGetThroughput, "/shoal.v1.ClusterService/GetThroughput"},
    {Method::kListWorkers, "/shoal.v1.ClusterService/ListWorkers"},
    {Method::kDrain, "/shoal.v1.ClusterService/Drain"},
    {Method::kApplyStream, "/shoal.v1.ComputeService/ApplyStream"},
    {Method::kPut, "/shoal.v1.ArrayService/Put"},
    {Method::kGet, "/shoal.v1.ArrayService/Get"},
    {Method::kSession, "/shoal.v1.ComputeService/Session"},
});

// Each at the place of its number, none left out.
constexpr auto kPaths = [] {
  std::array<const char*, kRows.size()> paths = {};
  for (const Row& row : kRows) paths[IndexOf(row.method)] = row.path;
  return paths;
}();
static_assert(kRows.size() == IndexOf(Method::kSession) + 1, "one path a method");
static_assert(std::ranges::find(kPaths, nullptr) == kPaths.end(), "a method stands twice");

}  // namespace

absl::Span<const char* const> MethodPaths() { return kPaths; }

}  // namespace shoal::internal
