#include "bench/ceilings/grpc_bytes.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <cstring>

namespace shoal::bench {

grpc::ByteBuffer MessageOf(ConstBytes head, const wire::Pieces& payload) {
  std::vector<grpc::Slice> slices;
  if (!head.empty()) slices.emplace_back(head.data(), head.size());
  for (const ConstBytes piece : payload) {
    if (!piece.empty()) slices.emplace_back(piece.data(), piece.size(), grpc::Slice::STATIC_SLICE);
  }
  return {slices.data(), slices.size()};
}

MessageReader::MessageReader(const grpc::ByteBuffer& message)
    : left_(static_cast<int64_t>(message.Length())) {
  message.Dump(&slices_).ok();  // Fails only for compressed messages, which we never send.
}

bool MessageReader::Read(Bytes destination) {
  if (left_ < static_cast<int64_t>(destination.size())) return false;
  while (!destination.empty()) {
    const grpc::Slice& slice = slices_[index_];
    const size_t count = std::min(slice.size() - offset_, destination.size());
    std::memcpy(destination.data(), slice.begin() + offset_, count);
    destination.remove_prefix(count);
    left_ -= static_cast<int64_t>(count);
    offset_ += count;
    if (offset_ < slice.size()) continue;
    ++index_;
    offset_ = 0;
  }
  return true;
}

grpc::ByteBuffer MessageReader::Rest(ConstBytes head) {
  std::vector<grpc::Slice> rest;
  rest.emplace_back(head.data(), head.size());
  for (size_t i = index_; i < slices_.size(); ++i) {
    rest.push_back(i == index_ ? slices_[i].sub(offset_, slices_[i].size()) : slices_[i]);
  }
  return {rest.data(), rest.size()};
}

std::shared_ptr<grpc::Channel> NewCeilingChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("grpc.http2.max_frame_size", kHttp2FrameBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy named in the environment is not for loopback.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

}  // namespace shoal::bench
