#include "client/src/chunk_receiver.h"

#include "absl/strings/str_cat.h"

namespace shoal::internal {

absl::StatusOr<wire::ChunkMessage> DecodeServerChunk(const wire::Pieces& message) {
  absl::StatusOr<wire::ChunkMessage> chunk = wire::DecodeChunkMessage(message);
  if (chunk.ok()) return chunk;
  return absl::InternalError(
      absl::StrCat("the server sent a malformed chunk: ", chunk.status().message()));
}

void ChunkReceiver::Add(std::byte* data, int64_t bytes, int64_t offset) {
  slots_.push_back({data, bytes, offset});
}

absl::Status ChunkReceiver::Accept(const wire::ChunkMessage& message) {
  const wire::ChunkHeader& header = message.header;
  if (header.array < 0 || header.array >= slot_count()) {
    return absl::InternalError(absl::StrCat("the server sent a chunk of array ", header.array));
  }
  Slot& slot = slots_[static_cast<size_t>(header.array)];
  if (header.offset != slot.offset || message.data_bytes > slot.bytes - slot.offset) {
    return absl::InternalError(absl::StrCat(
        "the server sent bytes [", header.offset, ", +", message.data_bytes, ") of array ",
        header.array, " where ", slot.offset, " of ", slot.bytes, " had come"));
  }
  const bool check = checksum_ && header.crc32c.has_value();
  uint32_t crc = 0;
  wire::GatherPieces(message.data, {slot.data + slot.offset, slot.bytes}, check ? &crc : nullptr);
  if (check && crc != *header.crc32c) {
    return absl::DataLossError(absl::StrCat("checksum of the chunk at byte ", header.offset,
                                            " of array ", header.array, " does not match"));
  }
  slot.offset += message.data_bytes;
  return absl::OkStatus();
}

absl::Status ChunkReceiver::CheckWhole() const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].offset == slots_[i].bytes) continue;
    return absl::DataLossError(absl::StrCat("the server ended the stream at byte ",
                                            slots_[i].offset, " of array ", i, ", which has ",
                                            slots_[i].bytes));
  }
  return absl::OkStatus();
}

}  // namespace shoal::internal
