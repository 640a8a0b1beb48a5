#include "server/collective/communicator.h"

#include "base/check.h"

namespace shoal::collective {

std::string_view Name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kProduct:
      return "product";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
  }
  SHOAL_UNREACHABLE("reduce op out of range");
}

std::string_view Name(Operation operation) {
  switch (operation) {
    case Operation::kScatter:
      return "scatter";
    case Operation::kGather:
      return "gather";
    case Operation::kBroadcast:
      return "broadcast";
    case Operation::kAllGather:
      return "all-gather";
    case Operation::kReduce:
      return "reduce";
    case Operation::kAllReduce:
      return "all-reduce";
    case Operation::kReduceScatter:
      return "reduce-scatter";
    case Operation::kAllToAll:
      return "all-to-all";
    case Operation::kSendRecv:
      return "send/recv";
    case Operation::kBarrier:
      return "barrier";
  }
  SHOAL_UNREACHABLE("operation out of range");
}

bool IsDefined(ReduceOp op, kernels::DType dtype) {
  return !kernels::IsComplex(dtype) || op == ReduceOp::kSum || op == ReduceOp::kProduct;
}

}  // namespace shoal::collective
