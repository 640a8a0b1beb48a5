#include "server/runtime/landing.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "server/runtime/staging.h"
#include "server/wire/status_details.h"
#include "wire/crc32c.h"

namespace shoal::runtime {
namespace {

std::string ChunkName(const wire::ChunkMessage& chunk) {
  return absl::StrCat("chunk of array ", chunk.header.array, " at offset ", chunk.header.offset);
}

absl::Status Refuse(const wire::ChunkMessage& chunk, absl::string_view reason,
                    absl::string_view what) {
  return wire::WithReason(
      absl::InvalidArgumentError(absl::StrCat(ChunkName(chunk), ": ", what)), reason,
      {{"array", absl::StrCat(chunk.header.array)}, {"offset", absl::StrCat(chunk.header.offset)}});
}

}  // namespace

absl::Status CheckChunk(const wire::ChunkMessage& chunk, int64_t expected_offset,
                        int64_t total_bytes, int64_t chunk_bytes_max) {
  if (chunk.header.offset != expected_offset) {
    return Refuse(chunk, "CHUNK_OUT_OF_ORDER", absl::StrCat("expected offset ", expected_offset));
  }
  if (chunk.data_bytes > chunk_bytes_max) {
    return Refuse(chunk, "CHUNK_TOO_LONG",
                  absl::StrCat(chunk.data_bytes, " bytes; the limit is ", chunk_bytes_max));
  }
  if (chunk.data_bytes > total_bytes - expected_offset) {
    return Refuse(chunk, "CHUNK_BEYOND_END",
                  absl::StrCat(chunk.data_bytes, " bytes; only ", total_bytes - expected_offset,
                               " are missing"));
  }
  if (chunk.data_bytes == 0) return Refuse(chunk, "CHUNK_EMPTY", "no bytes");
  return absl::OkStatus();
}

absl::Status ChecksumError(const wire::ChunkMessage& chunk, uint32_t computed) {
  return wire::WithReason(
      absl::DataLossError(absl::StrFormat("%s: CRC-32C is %08x, but the sender says %08x",
                                          ChunkName(chunk), computed, *chunk.header.crc32c)),
      "CHECKSUM",
      {{"array", absl::StrCat(chunk.header.array)}, {"offset", absl::StrCat(chunk.header.offset)}});
}

absl::Status Landing::Land(const wire::ChunkMessage& chunk) {
  SHOAL_RETURN_IF_ERROR(CheckChunk(chunk, landed_bytes_, total_bytes_, chunk_bytes_max_));
  const int64_t begin = chunk.header.offset;
  const int64_t end = begin + chunk.data_bytes;
  uint32_t crc = 0;
  uint32_t* const summed = chunk.header.crc32c.has_value() ? &crc : nullptr;
  if (!staged_) {
    target_.ForEachPart({begin, end}, [&](const Extent&, std::byte* data, plan::Range part) {
      const wire::Destination to{data, footprint_bytes_};
      if (part.size() == chunk.data_bytes) return wire::GatherPieces(chunk.data, to, summed);
      wire::GatherPieces(wire::SubPieces(chunk.data, part.begin - begin, part.size()), to, summed);
    });
  } else if (summed != nullptr) {
    for (const wire::ConstBytes piece : chunk.data) crc = wire::ExtendCrc32c(crc, piece);
  }
  if (summed != nullptr && crc != *chunk.header.crc32c) return ChecksumError(chunk, crc);
  landed_bytes_ = end;
  return absl::OkStatus();
}

void Landing::Stage(const wire::ChunkMessage& chunk, device::Done done) const {
  const int64_t begin = chunk.header.offset;
  StageIn(chunk.data, target_, {begin, begin + chunk.data_bytes}, std::move(done));
}

}  // namespace shoal::runtime
