#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "wire/chunk.h"

// Messages as a transport sees them, in either direction: bytes. It knows nothing of their meaning.
namespace shoal::transport {

/// Payload to be sent from where it lies.
struct Payload {
  wire::ConstBytes bytes;
  /// Keeps the bytes alive: shared by the array (or lease) they belong to and the message on its
  /// way out. Null: a client's Stream reads them until it is gone; all others copy them.
  std::shared_ptr<const void> owner;
};

/// A message to be sent: of each part its head, then its payload, which is not copied.
struct Frame {
  struct Part {
    std::string head;
    Payload payload;
  };
  absl::InlinedVector<Part, 1> parts;

  /// Adds payload behind what is there.
  void Append(Payload payload) {
    if (payload.bytes.empty()) return;
    if (parts.empty() || !parts.back().payload.bytes.empty()) parts.emplace_back();
    parts.back().payload = std::move(payload);
  }
};

/// A message of these bytes alone.
inline Frame FrameOf(std::string bytes) {
  Frame frame;
  frame.parts.push_back({std::move(bytes), {}});
  return frame;
}

/// A received message: bytes in pieces, kept alive by whoever holds it. Move-only.
class Message {
 public:
  Message() = default;
  /// `owner` keeps the memory of the pieces; the transport's own type.
  Message(wire::Pieces pieces, std::shared_ptr<const void> owner)
      : pieces_(std::move(pieces)), owner_(std::move(owner)) {}
  Message(Message&&) = default;
  Message& operator=(Message&&) = default;

  const wire::Pieces& pieces() const { return pieces_; }

 private:
  wire::Pieces pieces_;
  std::shared_ptr<const void> owner_;
};

}  // namespace shoal::transport
