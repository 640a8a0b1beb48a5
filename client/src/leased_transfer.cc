#include <cstring>
#include <utility>

#include "base/status.h"
#include "client/src/convert.h"
#include "client/src/lease_arena.h"
#include "client/src/transfer.h"
#include "shoal/v1/array_service.pb.h"

// Put and Get by leases: the op "echo" between a lease and a stored array.
namespace shoal::internal {
namespace {

absl::StatusOr<ArrayInfo> Describe(const ArrayRef& reference, const TransferContext& context,
                                   const CallEnv& env) {
  v1::DescribeRequest request;
  v1::DescribeResponse response;
  ToProto(reference, request.mutable_array());
  SHOAL_RETURN_IF_ERROR(context.unary->Call(Method::kDescribe, request, &response, env));
  return FromProto(response.array());
}

}  // namespace

absl::StatusOr<ArrayInfo> RunLeasedPut(const Array& array, const PutOptions& options,
                                       const LeasedContext& context, const CallEnv& env) {
  const TransferContext& transfer = *context.transfer;
  const Call call{.op = "echo",
                  .arguments = {array},
                  .destinations = {Store{options.name, options.distribution, options.replace}}};
  SHOAL_ASSIGN_OR_RETURN(CallPlan plan, PlanCall(call, context.plan));
  if (plan.inputs[0].way != CallPlan::Way::kLeased) {
    return absl::UnimplementedError("the array does not fit into a lease");
  }
  SHOAL_ASSIGN_OR_RETURN(const Result result, RunApply(call, &plan, transfer, env));
  if (result.outputs.size() != 1 || result.outputs[0].array_id == 0) {
    return absl::InternalError("the server stored an array without naming it");
  }
  if (options.progress) options.progress(array.byte_count(), array.byte_count());
  return Describe(ArrayRef::ById(result.outputs[0].array_id), transfer, env);
}

absl::StatusOr<LeasedArrayResult> RunLeasedGet(const ArrayRef& reference,
                                               const LeasedContext& context, const CallEnv& env) {
  const TransferContext& transfer = *context.transfer;
  SHOAL_ASSIGN_OR_RETURN(ArrayInfo info, Describe(reference, transfer, env));
  if (info.bytes <= context.plan.limits.inline_bytes) {
    return absl::UnimplementedError("too small to be worth a lease");
  }
  SHOAL_ASSIGN_OR_RETURN(StorageRef storage, context.plan.arena->Allocate(info.bytes));
  CallPlan plan;
  plan.inputs.push_back({.way = CallPlan::Way::kStored});
  plan.targets.push_back({.landing = ArrayAccess::Make(info.dtype, info.shape, info.bytes, storage),
                          .place = storage->place()});
  // By id, which is never another array's: what is written is surely of that size.
  const Call call{.op = "echo", .arguments = {ArrayRef::ById(info.id)}};
  absl::StatusOr<Result> result = RunApply(call, &plan, transfer, env);
  if (!result.ok()) {
    context.plan.arena->Distrust(storage);  // It may yet be written to.
    return result.status();
  }
  if (result->outputs.size() != 1 || result->outputs[0].array.byte_count() != info.bytes) {
    return absl::InternalError("the server answered an echo with something else");
  }
  return LeasedArrayResult{std::move(info), std::move(result->outputs[0].array)};
}

}  // namespace shoal::internal
