#pragma once

#include <cstdint>
#include <string>

// How protobuf encodes a field, for the few messages that are taken apart and put together by hand
// so that payload is not copied.
namespace shoal::wire {

/// The wire types of proto3: the low three bits of a tag.
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

constexpr uint32_t FieldTag(uint32_t field, WireType type) { return field << 3 | type; }

/// Appends `value` as a base-128 varint, at most 10 bytes.
inline void AppendVarint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

}  // namespace shoal::wire
