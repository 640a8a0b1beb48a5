#include "client/src/message_builder.h"

#include <utility>

#include "base/units.h"

namespace shoal::internal {
namespace {

// Below this, copying is cheaper than one more piece.
constexpr int64_t kReferenceFrom = 4 * kKiB;

}  // namespace

void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendFieldStart(std::string* out, uint32_t field, size_t bytes) {
  constexpr uint32_t kLengthDelimited = 2;
  AppendVarint(out, uint64_t{field} << 3 | kLengthDelimited);
  AppendVarint(out, bytes);
}

void MessageBuilder::AppendPayload(const Array& array) {
  const absl::Span<const std::byte> bytes = array.data();
  const StorageRef& storage = ArrayAccess::storage(array);
  if (payload_ == Payload::kCopied || storage == nullptr || array.byte_count() < kReferenceFrom) {
    head_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return;
  }
  frame_.parts.push_back({std::exchange(head_, {}), {bytes, storage}});
}

transport::Frame MessageBuilder::Build() {
  if (!head_.empty()) frame_.parts.push_back({std::exchange(head_, {}), {}});
  return std::move(frame_);
}

}  // namespace shoal::internal
