#pragma once

#include <grpcpp/channel.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "transport/channel.h"

namespace shoal::transport {

/// gRPC's channel with a connection of its own, made at its first call.
///
/// Errors: those of MakeGrpcChannel.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ChannelOptions& options);

/// The connection of a Channel, as its streams share it.
///
/// Thread-safety: `native` from any thread, until `Break`.
class Connection {
 public:
  Connection(std::shared_ptr<grpc::Channel> native, absl::Span<const char* const> methods)
      : native_(std::move(native)), methods_(methods) {}

  /// Null: broken.
  const std::shared_ptr<grpc::Channel>& native() const { return native_; }
  const char* Path(size_t method) const {
    SHOAL_CHECK(method < methods_.size());
    return methods_[method];
  }
  /// Closes it, once no call refers to it: it is broken, or has to let go of what it is sending.
  void Break() { native_.reset(); }

 private:
  std::shared_ptr<grpc::Channel> native_;  // Shared with gRPC's own objects of each call.
  const absl::Span<const char* const> methods_;
};

}  // namespace shoal::transport
