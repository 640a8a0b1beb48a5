#include "transport/grpc/byte_buffer.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/hand_over.h"

namespace shoal::transport {
namespace {

/// Keeps the bytes of a slice alive.
struct Owner {
  std::shared_ptr<const void> owner;
  HandOver order = {};
};

void DropOwner(void* dropped) {
  auto* owner = static_cast<Owner*>(dropped);
  owner->order.Take();
  delete owner;
}

grpc::Slice ToSlice(const Payload& payload, SliceGuard* guard) {
  if (payload.owner != nullptr) {
    // gRPC calls the deleter, on any thread, once the bytes have been written to the socket.
    auto* owner = new Owner{payload.owner};
    owner->order.Give();
    return {const_cast<std::byte*>(payload.bytes.data()), payload.bytes.size(), DropOwner, owner};
  }
  if (guard != nullptr) return guard->Reference(payload.bytes);
  return {payload.bytes.data(), payload.bytes.size()};
}

}  // namespace

grpc::Slice SliceGuard::Reference(wire::ConstBytes bytes) {
  const std::lock_guard lock(mutex_);
  ++count_;
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), Drop, this};
}

void SliceGuard::Drop(void* guard) {
  auto* self = static_cast<SliceGuard*>(guard);
  const std::lock_guard lock(self->mutex_);
  if (--self->count_ == 0) self->idle_.notify_all();
}

bool SliceGuard::WaitIdle(Duration patience) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, patience, [this] { return count_ == 0; });
}

grpc::ByteBuffer ToByteBuffer(const Frame& frame, SliceGuard* guard) {
  absl::InlinedVector<grpc::Slice, 4> slices;
  for (const Frame::Part& part : frame.parts) {
    if (!part.head.empty()) slices.emplace_back(part.head);
    if (!part.payload.bytes.empty()) slices.push_back(ToSlice(part.payload, guard));
  }
  return {slices.data(), slices.size()};
}

Message ToMessage(const grpc::ByteBuffer& buffer) {
  // A small message is one slice: one allocation instead of two.
  auto slice = std::make_shared<grpc::Slice>();
  if (buffer.TrySingleSlice(slice.get()).ok()) {
    wire::Pieces pieces = {BytesOf(*slice)};
    return {std::move(pieces), std::move(slice)};
  }
  auto slices = std::make_shared<std::vector<grpc::Slice>>();
  if (!buffer.Dump(slices.get()).ok()) return {};  // Only an invalid buffer: no bytes.
  wire::Pieces pieces;
  pieces.reserve(slices->size());
  for (const grpc::Slice& each : *slices) pieces.push_back(BytesOf(each));
  return {std::move(pieces), std::move(slices)};
}

}  // namespace shoal::transport
