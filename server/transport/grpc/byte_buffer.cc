#include "server/transport/grpc/byte_buffer.h"

#include <grpcpp/support/slice.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/hand_over.h"

namespace shoal::transport {
namespace {

/// Holds a reference to each slice; the bytes stay where gRPC received them.
class SliceStorage final : public Message::Storage {
 public:
  explicit SliceStorage(std::vector<grpc::Slice> slices) : slices_(std::move(slices)) {}

  wire::Pieces Pieces() const {
    wire::Pieces pieces;
    pieces.reserve(slices_.size());
    for (const grpc::Slice& slice : slices_) {
      pieces.emplace_back(reinterpret_cast<const std::byte*>(slice.begin()), slice.size());
    }
    return pieces;
  }

 private:
  const std::vector<grpc::Slice> slices_;
};

/// Keeps the bytes of a slice alive.
struct Owner {
  std::shared_ptr<const void> owner;
  HandOver order = {};
};

// gRPC calls it, on any thread, once the bytes have been written to the socket.
void DropOwner(void* dropped) {
  auto* owner = static_cast<Owner*>(dropped);
  owner->order.Take();
  delete owner;
}

grpc::Slice ToSlice(Payload payload) {
  auto* owner = new Owner{std::move(payload.owner)};
  owner->order.Give();
  return grpc::Slice(const_cast<std::byte*>(payload.bytes.data()), payload.bytes.size(), DropOwner,
                     owner);
}

}  // namespace

Message ToMessage(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return {};  // Only an invalid buffer: no bytes.
  auto storage = std::make_unique<SliceStorage>(std::move(slices));
  wire::Pieces pieces = storage->Pieces();
  return Message(std::move(pieces), std::move(storage));
}

grpc::ByteBuffer ToByteBuffer(Frame frame) {
  if (frame.payloads.empty()) {
    const grpc::Slice head(frame.head);
    return grpc::ByteBuffer(&head, 1);
  }
  absl::InlinedVector<grpc::Slice, 3> slices;
  slices.emplace_back(frame.head);
  for (Payload& payload : frame.payloads) slices.push_back(ToSlice(std::move(payload)));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace shoal::transport
