#pragma once

#include <google/protobuf/message_lite.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "client/src/method.h"
#include "client/src/shutdown.h"
#include "transport/channel.h"

namespace shoal::internal {

/// Unary calls on one channel.
///
/// Thread-safety: all methods.
class UnaryChannel {
 public:
  explicit UnaryChannel(std::unique_ptr<transport::Channel> channel)
      : channel_(std::move(channel)) {}

  /// One attempt. Errors: the server's, or the transport's.
  absl::StatusOr<transport::Message> Call(Method method, const transport::Frame& request,
                                          const CallEnv& env) const;

  /// The same with messages.
  absl::Status Call(Method method, const google::protobuf::MessageLite& request,
                    google::protobuf::MessageLite* response, const CallEnv& env) const;

  /// Waits until the server is there, as long as the deadline allows, then makes the call.
  absl::Status CallWhenReady(Method method, const google::protobuf::MessageLite& request,
                             google::protobuf::MessageLite* response, const CallEnv& env) const;

  /// Ends before this object.
  std::unique_ptr<transport::AsyncCalls> MakeAsyncCalls() const {
    return channel_->MakeAsyncCalls();
  }

 private:
  std::unique_ptr<transport::Channel> channel_;
};

}  // namespace shoal::internal
