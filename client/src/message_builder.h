#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "client/src/storage.h"
#include "transport/message.h"

namespace shoal::internal {

/// Appends a protobuf varint, or a length-delimited field's tag and length.
void AppendVarint(std::string* out, uint64_t value);
void AppendFieldStart(std::string* out, uint32_t field, size_t bytes);

/// Builds a protobuf message out of encoded parts and payloads that it does not copy.
class MessageBuilder {
 public:
  enum class Payload : uint8_t {
    kReferenced,  ///< Where that is safe and pays.
    kCopied,      ///< Always: the message is one string.
  };
  explicit MessageBuilder(Payload payload = Payload::kReferenced) : payload_(payload) {}

  void Append(absl::string_view encoded) { head_.append(encoded.data(), encoded.size()); }
  std::string* head() { return &head_; }

  /// The bytes of an array. Small or borrowed ones are copied, since a transport may hold on to
  /// them after a call that failed; others are referenced.
  void AppendPayload(const Array& array);

  transport::Frame Build();
  /// With kCopied: the message.
  std::string BuildString() { return std::move(head_); }

 private:
  const Payload payload_;
  std::string head_;  // Since the last payload.
  transport::Frame frame_;
};

}  // namespace shoal::internal
