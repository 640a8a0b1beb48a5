#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/channel.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "client/src/shutdown.h"

namespace shoal::internal {

enum class Method : uint8_t {
  kEcho,
  kApply,
  kDescribe,
  kList,
  kFree,
  kRedistribute,
  kGetServerInfo,
  kGetThroughput,
  kListWorkers,
  kDrain,
};
inline constexpr size_t kMethodCount = 10;

const char* MethodPath(Method method);

/// Unary calls on one channel, made by the calling thread: it polls for its own answer, so that no
/// other thread is woken.
///
/// Thread-safety: all methods.
class UnaryChannel {
 public:
  explicit UnaryChannel(std::shared_ptr<grpc::Channel> channel);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  /// One attempt. Errors: the server's, or the transport's.
  absl::StatusOr<grpc::ByteBuffer> Call(Method method, const grpc::ByteBuffer& request,
                                        const CallEnv& env) const;

  /// The same with messages.
  absl::Status Call(Method method, const google::protobuf::MessageLite& request,
                    google::protobuf::MessageLite* response, const CallEnv& env) const;

  /// Waits until the server is there, as long as the deadline allows, then makes the call.
  absl::Status CallWhenReady(Method method, const google::protobuf::MessageLite& request,
                             google::protobuf::MessageLite* response, const CallEnv& env) const;

 private:
  struct Mode {
    bool wait_for_ready;
  };
  absl::StatusOr<grpc::ByteBuffer> Run(Method method, const grpc::ByteBuffer& request,
                                       const CallEnv& env, Mode mode) const;

  const std::shared_ptr<grpc::Channel> channel_;
  // Registered with the channel once, which spares every call the building of its path.
  const std::array<grpc::internal::RpcMethod, kMethodCount> methods_;
};

/// A message in one slice.
grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);
/// Errors: INTERNAL  it is not one.
absl::Status FromBuffer(grpc::ByteBuffer* buffer, google::protobuf::MessageLite* message);

}  // namespace shoal::internal
