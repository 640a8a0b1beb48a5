#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace shoal::wire {

using ConstBytes = absl::Span<const std::byte>;
/// Bytes that lie in several places, in order. A view: owns nothing.
using Pieces = absl::InlinedVector<ConstBytes, 8>;

/// The fields of `shoal.v1.Chunk` other than its data.
struct ChunkHeader {
  int32_t array = 0;
  int64_t offset = 0;  ///< In bytes, from the start of the array.
  std::optional<uint32_t> crc32c;

  friend bool operator==(const ChunkHeader&, const ChunkHeader&) = default;
};

/// A message that may carry a chunk (its field 15), taken apart without copying the payload.
struct ChunkMessage {
  std::string rest;  ///< All other fields, serialised: parse it as the message. Usually empty.
  bool has_chunk = false;
  ChunkHeader header;
  Pieces data;  ///< Views into the pieces that were decoded.
  int64_t data_bytes = 0;
};

/// The bytes that go before the payload in a message of `rest` and one chunk.
///
/// `rest` + frame + payload is the protobuf encoding of the message, so that a sender references
/// its own memory as the last piece instead of copying it. `payload_bytes` must be the payload's
/// exact length, at least 0 and below 2^31.
std::string FrameChunk(absl::string_view rest, const ChunkHeader& header, int64_t payload_bytes);

/// Takes a received message apart. Accepts any valid encoding, fields in any order.
///
/// Errors:
///   INVALID_ARGUMENT  truncated or malformed, or more than one chunk.
absl::StatusOr<ChunkMessage> DecodeChunkMessage(const Pieces& message);

struct Destination {
  std::byte* data;
  /// Of the work that this is a part of, for CopyBytes (base/copy.h).
  int64_t footprint_bytes = 0;
};

/// Copies `pieces` to a destination that has room for them. `crc`, unless null, goes on from its
/// value over the bytes. One pass: each piece is summed while it is in the cache.
void GatherPieces(const Pieces& pieces, Destination to, uint32_t* crc);

/// The part [offset, offset + bytes) of `pieces`, which must lie within them.
Pieces SubPieces(const Pieces& pieces, int64_t offset, int64_t bytes);

/// The number of bytes in all pieces.
int64_t TotalBytes(const Pieces& pieces);

}  // namespace shoal::wire
