#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::device {

/// Bytes on a device, or on the host, that somebody else owns.
struct Span {
  std::byte* data = nullptr;
  int64_t bytes = 0;

  /// [offset, offset + size) of this span; must lie inside.
  Span Sub(int64_t offset, int64_t size) const { return {data + offset, size}; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// The same, to be read only.
struct ConstSpan {
  const std::byte* data = nullptr;
  int64_t bytes = 0;

  ConstSpan() = default;
  ConstSpan(const std::byte* span_data, int64_t span_bytes) : data(span_data), bytes(span_bytes) {}
  // A Span may stand wherever its bytes are only read.
  // NOLINTNEXTLINE(google-explicit-constructor)
  ConstSpan(Span span) : data(span.data), bytes(span.bytes) {}

  ConstSpan Sub(int64_t offset, int64_t size) const { return {data + offset, size}; }
  friend bool operator==(const ConstSpan&, const ConstSpan&) = default;
};

}  // namespace shoal::device
