#include "server/service/chunk_sender.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "server/runtime/staging.h"
#include "wire/chunk.h"
#include "wire/crc32c.h"

namespace shoal::service {
namespace {

/// An operand without extents is no array, though its type, rank 0, has one element.
int64_t BytesToSend(const runtime::Operand& array) {
  return array.extents.empty() ? 0 : array.bytes();
}

/// What the frame of a chunk is made of, besides its payloads.
struct ChunkFrame {
  std::string rest;
  wire::ChunkHeader header;
  int64_t byte_count = 0;
  bool checksum = true;
};

transport::Frame MakeFrame(ChunkFrame chunk, absl::InlinedVector<transport::Payload, 1> payloads) {
  if (chunk.checksum) {
    uint32_t crc = 0;
    for (const transport::Payload& payload : payloads) {
      crc = wire::ExtendCrc32c(crc, payload.bytes);
    }
    chunk.header.crc32c = crc;
  }
  transport::Frame frame =
      transport::FrameOf(wire::FrameChunk(chunk.rest, chunk.header, chunk.byte_count));
  for (transport::Payload& payload : payloads) frame.Append(std::move(payload));
  return frame;
}

}  // namespace

ChunkSender::ChunkSender(runtime::Operand array, int64_t offset, int64_t byte_count,
                         ChunkOptions options)
    : arrays_({std::move(array)}), options_(options), offset_(offset), end_(offset + byte_count) {
  SkipFinished();
}

ChunkSender::ChunkSender(std::vector<runtime::Operand> arrays, ChunkOptions options)
    : arrays_(std::move(arrays)), options_(options) {
  if (!arrays_.empty()) end_ = BytesToSend(arrays_[0]);
  SkipFinished();
}

ChunkSender::Chunk ChunkSender::TakeChunk() {
  const Chunk chunk{array_, {offset_, std::min(end_, offset_ + options_.chunk_bytes)}};
  offset_ = chunk.bytes.end;
  SkipFinished();
  return chunk;
}

transport::Frame ChunkSender::Next(const std::string& rest) {
  if (done()) return transport::FrameOf(rest);
  const Chunk chunk = TakeChunk();
  const runtime::Operand& array = arrays_[chunk.array];
  absl::InlinedVector<transport::Payload, 1> payloads;
  array.ForEachPart(chunk.bytes,
                    [&](const runtime::Extent& extent, const std::byte* data, plan::Range part) {
                      SHOAL_CHECK(extent.way == nullptr);
                      payloads.push_back({{data, static_cast<size_t>(part.size())}, array.owner});
                    });
  return MakeFrame({rest, chunk.header(), chunk.bytes.size(), options_.checksum},
                   std::move(payloads));
}

void ChunkSender::Send(const std::string& rest, StreamWriter* writer,
                       absl::AnyInvocable<void(const absl::Status&)> failed) {
  if (done() || arrays_[array_].host_addressable()) return writer->Push(Next(rest));
  const Chunk chunk = TakeChunk();
  auto block =
      runtime::AllocateFrontEnd(*options_.engine, chunk.bytes.size(), runtime::FrontUse::kHeld);
  if (!block.ok()) return failed(block.status());
  const std::optional<uint64_t> place = writer->Hold();
  if (!place.has_value()) return;  // A cancellation came first.
  std::byte* const data = (*block)->data();
  const runtime::Operand& array = arrays_[chunk.array];
  runtime::StageOut(
      array, chunk.bytes, data,
      [writer, place = *place, failed = std::move(failed), owner = array.owner,
       frame = ChunkFrame{rest, chunk.header(), chunk.bytes.size(), options_.checksum},
       block = *std::move(block)](const absl::Status& status) mutable {
        if (!status.ok()) {
          failed(status);
          return writer->Fill(place, std::nullopt);
        }
        const wire::ConstBytes bytes(block->data(), static_cast<size_t>(block->bytes()));
        writer->Fill(place, MakeFrame(std::move(frame), {{bytes, std::move(block)}}));
      });
}

void ChunkSender::SkipFinished() {
  while (!done() && offset_ == end_) {
    ++array_;
    offset_ = 0;
    end_ = done() ? 0 : BytesToSend(arrays_[array_]);
  }
}

}  // namespace shoal::service
