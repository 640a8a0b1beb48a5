// Messages with a chunk, cut into pieces at any place: what our decoder takes is what protobuf
// takes it for, and what it took apart goes together again.

#include <cstdint>
#include <string>

#include "base/check.h"
#include "shoal/v1/array_service.pb.h"
#include "wire/chunk.h"

namespace shoal::wire {
namespace {

/// The first byte says how long the pieces are; the message is the rest.
Pieces Cut(const uint8_t* data, size_t size, size_t step) {
  Pieces pieces;
  for (size_t at = 0; at < size; at += step) {
    pieces.emplace_back(reinterpret_cast<const std::byte*>(data) + at, std::min(step, size - at));
    if (step % 3 == 0) pieces.emplace_back();  // Empty ones happen, too.
  }
  return pieces;
}

std::string Gathered(const Pieces& pieces) {
  std::string bytes(static_cast<size_t>(TotalBytes(pieces)), '\0');
  GatherPieces(pieces, {reinterpret_cast<std::byte*>(bytes.data())}, nullptr);
  return bytes;
}

void CheckAgainstProtobuf(const std::string& bytes, const ChunkMessage& message) {
  v1::PutRequest parsed;
  if (!parsed.ParseFromString(bytes)) return;  // Ours leaves the other fields to protobuf.
  SHOAL_CHECK(parsed.has_chunk() == message.has_chunk);
  SHOAL_CHECK(parsed.chunk().array() == message.header.array);
  SHOAL_CHECK(parsed.chunk().offset() == message.header.offset);
  SHOAL_CHECK(parsed.chunk().has_crc32c() == message.header.crc32c.has_value());
  SHOAL_CHECK(parsed.chunk().crc32c() == message.header.crc32c.value_or(0));
  SHOAL_CHECK(parsed.chunk().data() == Gathered(message.data));
  v1::PutRequest rest;
  SHOAL_CHECK(rest.ParseFromString(message.rest));
  SHOAL_CHECK(rest.header().SerializeAsString() == parsed.header().SerializeAsString());
}

void CheckRoundTrip(const ChunkMessage& message) {
  const std::string data = Gathered(message.data);
  const std::string framed =
      FrameChunk(message.rest, message.header, static_cast<int64_t>(data.size())) + data;
  Pieces whole;
  whole.emplace_back(reinterpret_cast<const std::byte*>(framed.data()), framed.size());
  const auto again = DecodeChunkMessage(whole);
  SHOAL_CHECK(again.ok() && again->has_chunk && again->header == message.header);
  SHOAL_CHECK(again->rest == message.rest && Gathered(again->data) == data);
}

}  // namespace
}  // namespace shoal::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace shoal::wire;  // NOLINT(google-build-using-namespace): only this function.
  if (size == 0) return 0;
  const Pieces pieces = Cut(data + 1, size - 1, 1 + data[0] % 64U);
  const auto message = DecodeChunkMessage(pieces);
  if (!message.ok()) {
    SHOAL_CHECK(message.status().code() == absl::StatusCode::kInvalidArgument);
    return 0;
  }
  SHOAL_CHECK(message->data_bytes == TotalBytes(message->data));
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  CheckAgainstProtobuf(bytes, *message);
  if (message->has_chunk) CheckRoundTrip(*message);
  return 0;
}
