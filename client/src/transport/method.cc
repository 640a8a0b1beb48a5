#include "client/src/transport/method.h"

#include "base/check.h"

namespace shoal::internal::transport {

const char* MethodPath(Method method) {
  switch (method) {
    case Method::kEcho:
      return "/shoal.v1.ComputeService/Echo";
    case Method::kApply:
      return "/shoal.v1.ComputeService/Apply";
    case Method::kDescribe:
      return "/shoal.v1.ArrayService/Describe";
    case Method::kList:
      return "/shoal.v1.ArrayService/List";
    case Method::kFree:
      return "/shoal.v1.ArrayService/Free";
    case Method::kRedistribute:
      return "/shoal.v1.ArrayService/Redistribute";
    case Method::kGetServerInfo:
      return "/shoal.v1.ClusterService/GetServerInfo";
    case Method::kGetThroughput:
      return "/shoal.v1.ClusterService/GetThroughput";
    case Method::kListWorkers:
      return "/shoal.v1.ClusterService/ListWorkers";
    case Method::kDrain:
      return "/shoal.v1.ClusterService/Drain";
    case Method::kApplyStream:
      return "/shoal.v1.ComputeService/ApplyStream";
    case Method::kPut:
      return "/shoal.v1.ArrayService/Put";
    case Method::kGet:
      return "/shoal.v1.ArrayService/Get";
    case Method::kSession:
      return "/shoal.v1.ComputeService/Session";
  }
  SHOAL_UNREACHABLE("method out of range");
}

}  // namespace shoal::internal::transport
