#include "wire/chunk.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/copy.h"
#include "base/status.h"
#include "wire/crc32c.h"
#include "wire/field.h"

namespace shoal::wire {
namespace {

// Field numbers of shoal.v1: the chunk in its message, and the chunk's own.
constexpr uint32_t kChunkField = 15;
constexpr uint32_t kArrayField = 1;
constexpr uint32_t kOffsetField = 2;
constexpr uint32_t kCrcField = 3;
constexpr uint32_t kDataField = 15;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed message: ", what));
}

/// Walks over bytes that lie in pieces.
class Reader {
 public:
  explicit Reader(const Pieces& pieces) : pieces_(pieces), left_(TotalBytes(pieces)) {}

  int64_t left() const { return left_; }

  bool ReadByte(uint8_t* byte) {
    if (left_ == 0) return false;
    SkipEmpty();
    *byte = static_cast<uint8_t>(pieces_[piece_][at_]);
    Advance(1);
    return true;
  }

  bool ReadVarint(uint64_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      uint8_t byte = 0;
      if (!ReadByte(&byte)) return false;
      *value |= static_cast<uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool ReadFixed32(uint32_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
      uint8_t byte = 0;
      if (!ReadByte(&byte)) return false;
      *value |= static_cast<uint32_t>(byte) << shift;
    }
    return true;
  }

  /// The next `bytes` bytes, as views. The caller has checked that they are there.
  Pieces Take(int64_t bytes) {
    Pieces taken;
    while (bytes > 0) {
      SkipEmpty();
      const ConstBytes rest = pieces_[piece_].subspan(at_);
      const int64_t step = std::min(bytes, static_cast<int64_t>(rest.size()));
      taken.push_back(rest.first(static_cast<size_t>(step)));
      Advance(step);
      bytes -= step;
    }
    return taken;
  }

 private:
  void SkipEmpty() {
    while (at_ == pieces_[piece_].size()) {
      ++piece_;
      at_ = 0;
    }
  }
  void Advance(int64_t bytes) {
    at_ += static_cast<size_t>(bytes);
    left_ -= bytes;
  }

  const Pieces& pieces_;
  size_t piece_ = 0;
  size_t at_ = 0;
  int64_t left_;
};

bool TakeLengthDelimited(Reader* reader, Pieces* value) {
  uint64_t length = 0;
  if (!reader->ReadVarint(&length)) return false;
  if (length > static_cast<uint64_t>(reader->left())) return false;
  *value = reader->Take(static_cast<int64_t>(length));
  return true;
}

/// Passes over a field of no interest; if `copy` is given, appends its value to it as it stood.
bool SkipField(Reader* reader, uint32_t type, std::string* copy) {
  Pieces value;
  switch (type) {
    case kVarint: {
      uint64_t number = 0;
      if (!reader->ReadVarint(&number)) return false;
      if (copy != nullptr) AppendVarint(copy, number);
      return true;
    }
    case kFixed64:
    case kFixed32: {
      const int64_t bytes = type == kFixed64 ? 8 : 4;
      if (reader->left() < bytes) return false;
      value = reader->Take(bytes);
      break;
    }
    case kLengthDelimited:
      if (!TakeLengthDelimited(reader, &value)) return false;
      if (copy != nullptr) AppendVarint(copy, static_cast<uint64_t>(TotalBytes(value)));
      break;
    default:
      return false;  // Groups are not proto3.
  }
  if (copy == nullptr) return true;
  for (const ConstBytes piece : value) {
    copy->append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return true;
}

absl::Status DecodeChunk(const Pieces& pieces, ChunkMessage* message) {
  Reader reader(pieces);
  while (reader.left() > 0) {
    uint64_t tag = 0;
    uint64_t number = 0;
    if (!reader.ReadVarint(&tag)) return Malformed("chunk tag");
    switch (tag) {
      case FieldTag(kArrayField, kVarint):
        if (!reader.ReadVarint(&number)) return Malformed("chunk.array");
        message->header.array = static_cast<int32_t>(number);
        break;
      case FieldTag(kOffsetField, kVarint):
        if (!reader.ReadVarint(&number)) return Malformed("chunk.offset");
        message->header.offset = static_cast<int64_t>(number);
        break;
      case FieldTag(kCrcField, kFixed32): {
        uint32_t crc = 0;
        if (!reader.ReadFixed32(&crc)) return Malformed("chunk.crc32c");
        message->header.crc32c = crc;
        break;
      }
      case FieldTag(kDataField, kLengthDelimited):
        if (!TakeLengthDelimited(&reader, &message->data)) return Malformed("chunk.data");
        break;
      default:
        if (!SkipField(&reader, tag & 7U, nullptr)) return Malformed("unknown field of chunk");
    }
  }
  message->data_bytes = TotalBytes(message->data);
  return absl::OkStatus();
}

}  // namespace

int64_t TotalBytes(const Pieces& pieces) {
  int64_t bytes = 0;
  for (const ConstBytes piece : pieces) bytes += static_cast<int64_t>(piece.size());
  return bytes;
}

std::string FrameChunk(absl::string_view rest, const ChunkHeader& header, int64_t payload_bytes) {
  SHOAL_CHECK(payload_bytes >= 0 && payload_bytes < (int64_t{1} << 31));
  std::string fields;
  if (header.array != 0) {
    AppendVarint(&fields, FieldTag(kArrayField, kVarint));
    AppendVarint(&fields, static_cast<uint64_t>(int64_t{header.array}));
  }
  if (header.offset != 0) {
    AppendVarint(&fields, FieldTag(kOffsetField, kVarint));
    AppendVarint(&fields, static_cast<uint64_t>(header.offset));
  }
  if (header.crc32c.has_value()) {
    AppendVarint(&fields, FieldTag(kCrcField, kFixed32));
    for (unsigned shift = 0; shift < 32; shift += 8) {
      fields.push_back(static_cast<char>(*header.crc32c >> shift));
    }
  }
  AppendVarint(&fields, FieldTag(kDataField, kLengthDelimited));
  AppendVarint(&fields, static_cast<uint64_t>(payload_bytes));

  std::string frame(rest);
  AppendVarint(&frame, FieldTag(kChunkField, kLengthDelimited));
  AppendVarint(&frame, fields.size() + static_cast<uint64_t>(payload_bytes));
  frame += fields;
  return frame;
}

absl::StatusOr<ChunkMessage> DecodeChunkMessage(const Pieces& message) {
  ChunkMessage decoded;
  Reader reader(message);
  while (reader.left() > 0) {
    uint64_t tag = 0;
    if (!reader.ReadVarint(&tag) || tag >> 32 != 0) return Malformed("tag");
    if (tag == FieldTag(kChunkField, kLengthDelimited)) {
      Pieces chunk;
      if (decoded.has_chunk) return Malformed("two chunks in one message");
      if (!TakeLengthDelimited(&reader, &chunk)) return Malformed("chunk is cut short");
      decoded.has_chunk = true;
      SHOAL_RETURN_IF_ERROR(DecodeChunk(chunk, &decoded));
      continue;
    }
    AppendVarint(&decoded.rest, tag);
    if (!SkipField(&reader, tag & 7U, &decoded.rest)) return Malformed("field is cut short");
  }
  return decoded;
}

void GatherPieces(const Pieces& pieces, Destination to, uint32_t* crc) {
  for (const ConstBytes piece : pieces) {
    if (piece.empty()) continue;
    const auto bytes = static_cast<int64_t>(piece.size());
    CopyBytes(to.data, piece.data(), bytes, to.footprint_bytes);
    if (crc != nullptr) *crc = ExtendCrc32c(*crc, piece);
    to.data += bytes;
  }
}

Pieces SubPieces(const Pieces& pieces, int64_t offset, int64_t bytes) {
  Pieces part;
  for (const ConstBytes piece : pieces) {
    const auto size = static_cast<int64_t>(piece.size());
    if (offset >= size) {
      offset -= size;
      continue;
    }
    if (bytes == 0) break;
    const int64_t step = std::min(size - offset, bytes);
    part.push_back(piece.subspan(static_cast<size_t>(offset), static_cast<size_t>(step)));
    offset = 0;
    bytes -= step;
  }
  SHOAL_CHECK(bytes == 0);
  return part;
}

}  // namespace shoal::wire
