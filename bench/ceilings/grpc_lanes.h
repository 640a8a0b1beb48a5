#pragma once

#include <memory>
#include <string>

#include "bench/subject.h"

namespace shoal::bench {

// Lanes to a ceiling's gRPC server, each with a connection and a completion queue of its own that
// the calling thread serves: no other thread has to be woken for a call.

/// Raw unary calls.
std::unique_ptr<Lane> NewUnaryLane(const std::string& address);

/// Unary calls with the payload as a protobuf `bytes` field, copied in and out of the message.
std::unique_ptr<Lane> NewProtobufLane(const std::string& address);

/// A bidirectional stream a call, with chunks of 1 MiB that reference the caller's memory.
std::unique_ptr<Lane> NewStreamLane(const std::string& address);

/// One bidirectional stream for all calls, a message each way a call: kEcho only.
std::unique_ptr<Lane> NewMessageLane(const std::string& address);

/// Makes the server forget its slots.
absl::Status ResetGrpcServer(const std::string& address);

}  // namespace shoal::bench
