#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bench/subject.h"

namespace shoal::bench {

/// Which of gRPC's ways a payload goes.
enum class GrpcWay : uint8_t {
  kUnary,     ///< "grpc_unary": raw buffers, one message each way.
  kStream,    ///< "grpc_stream": raw buffers in chunks of 1 MiB, a stream a call.
  kMessages,  ///< "grpc_messages": one stream for all calls, a message each; kEcho only.
  kProtobuf,  ///< "protobuf": the payload as a `bytes` field of a unary call.
};

/// Starts the ceiling's server on `plane` ("tcp" or "unix").
absl::StatusOr<std::unique_ptr<Subject>> NewGrpcSubject(GrpcWay way, const std::string& plane);

}  // namespace shoal::bench
