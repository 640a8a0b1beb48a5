#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/src/buffer_pool.h"
#include "client/src/call_plan.h"
#include "client/src/message_builder.h"
#include "shoal/call.h"
#include "wire/chunk.h"

// Calls to bytes and back, by hand where payload is concerned: protobuf would copy it twice.
namespace shoal::internal {

/// Appends the ApplyRequest for `call`, travelling as `plan` says.
void EncodeCall(const Call& call, const CallPlan& plan, MessageBuilder* builder);

/// An output as it came.
struct ReceivedOutput {
  Output output;  ///< With its array, if the bytes came along.
  int64_t bytes = 0;
  bool has_data = false;
  bool leased = false;    ///< The server wrote it into the lease that the request named.
  bool streamed = false;  ///< Its chunks follow.
};

struct ReceivedCall {
  Result result;  ///< Without its outputs.
  std::vector<ReceivedOutput> outputs;
};

/// Reads a whole ApplyResponse, the next bytes of `input` up to its limit or end. Payload goes into
/// memory from `pool`, or from the heap if that is null.
///
/// Errors: INTERNAL  malformed, or an impossible array. RESOURCE_EXHAUSTED  no memory.
absl::StatusOr<ReceivedCall> DecodeCall(google::protobuf::io::CodedInputStream* input,
                                        BufferPool* pool);
absl::StatusOr<ReceivedCall> DecodeCall(const wire::Pieces& message, BufferPool* pool);

/// Reads one Output message, likewise.
absl::StatusOr<ReceivedOutput> DecodeOutput(google::protobuf::io::CodedInputStream* input,
                                            BufferPool* pool);

/// Memory for results: from `pool` if it is not null.
absl::StatusOr<StorageRef> AllocateResult(BufferPool* pool, int64_t bytes);

}  // namespace shoal::internal
