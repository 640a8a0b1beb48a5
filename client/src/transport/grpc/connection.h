#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "client/src/transport/channel.h"

namespace shoal::internal::transport {

/// gRPC's channel with a connection of its own, made at its first call.
///
/// Errors: those of MakeGrpcChannel.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ChannelOptions& options);

/// The connection of a Channel, as its streams share it.
///
/// Thread-safety: `native` from any thread, until `Break`.
class Connection {
 public:
  explicit Connection(std::shared_ptr<grpc::Channel> native) : native_(std::move(native)) {}

  /// Null: broken.
  const std::shared_ptr<grpc::Channel>& native() const { return native_; }
  /// Closes it, once no call refers to it: it is broken, or has to let go of what it is sending.
  void Break() { native_.reset(); }

 private:
  std::shared_ptr<grpc::Channel> native_;  // Shared with gRPC's own objects of each call.
};

}  // namespace shoal::internal::transport
