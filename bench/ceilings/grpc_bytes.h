#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/subject.h"

namespace shoal::bench {

inline constexpr int kHttp2FrameBytes = 1 << 20;

/// A message of `head`, copied, and `payload`, referenced: it must stay untouched until the peer
/// has answered.
grpc::ByteBuffer MessageOf(ConstBytes head, const wire::Pieces& payload);

/// Reads a received message from its front.
class MessageReader {
 public:
  /// `message` outlives the reader, which holds references to its slices.
  explicit MessageReader(const grpc::ByteBuffer& message);

  int64_t left() const { return left_; }

  /// Copies the next bytes out. False, and nothing was read, if there are fewer.
  bool Read(Bytes destination);

  /// The rest as a message of its own behind `head`, without copying the bytes.
  grpc::ByteBuffer Rest(ConstBytes head);

 private:
  std::vector<grpc::Slice> slices_;
  size_t index_ = 0;
  size_t offset_ = 0;
  int64_t left_ = 0;
};

/// A connection of its own to a ceiling's gRPC server, with the settings that Shoal's have.
std::shared_ptr<grpc::Channel> NewCeilingChannel(const std::string& address);

absl::Status FromGrpc(const grpc::Status& status);

}  // namespace shoal::bench
