#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "client/src/buffer_pool.h"
#include "client/src/call_plan.h"
#include "client/src/channel_pool.h"
#include "client/src/chunk_sender.h"
#include "client/src/shutdown.h"
#include "client/src/unary.h"
#include "shoal/array.h"
#include "shoal/call.h"
#include "shoal/info.h"
#include "shoal/options.h"

// What moves arrays. Each function is one whole API call, retries included, in the calling thread.
namespace shoal::internal {

struct TransferContext {
  const UnaryChannel* unary = nullptr;
  ChannelPool* channels = nullptr;
  BufferPool* pool = nullptr;
  StreamOptions stream;
  RetryPolicy retry = {};
};

/// As Client::Put, by chunks.
absl::StatusOr<ArrayInfo> RunPut(const Array& array, const PutOptions& options,
                                 const TransferContext& context, const CallEnv& env);

/// Gives the memory for an array that is about to come; its size is `info.bytes`.
using Landing = std::function<absl::StatusOr<std::byte*>(const ArrayInfo& info)>;

struct GetCall {
  ArrayRef reference = {};
  Progress progress = {};
  Landing landing;
};

/// As Client::Get, by chunks.
absl::StatusOr<ArrayInfo> RunGet(const GetCall& call, const TransferContext& context,
                                 const CallEnv& env);

/// One attempt at a call, as planned. `plan` may be changed from unary to streaming when the
/// outputs turn out to be too large for a unary reply.
absl::StatusOr<Result> RunApply(const Call& call, CallPlan* plan, const TransferContext& context,
                                const CallEnv& env);

struct LeasedContext {
  const TransferContext* transfer = nullptr;
  PlanContext plan;  // With an arena.
};
struct LeasedArrayResult {
  ArrayInfo info;
  Array array;  ///< In a lease.
};

/// As Client::Put and Client::Get, by leases, in one attempt without chunks.
///
/// Errors: as those, and UNIMPLEMENTED or RESOURCE_EXHAUSTED where only chunks will do.
absl::StatusOr<ArrayInfo> RunLeasedPut(const Array& array, const PutOptions& options,
                                       const LeasedContext& context, const CallEnv& env);
absl::StatusOr<LeasedArrayResult> RunLeasedGet(const ArrayRef& reference,
                                               const LeasedContext& context, const CallEnv& env);

/// What a unary call's reply comes to, its outputs brought to where `plan` wants them.
absl::StatusOr<Result> DecodeUnary(const CallPlan& plan, const transport::Message& reply,
                                   BufferPool* pool);

}  // namespace shoal::internal
