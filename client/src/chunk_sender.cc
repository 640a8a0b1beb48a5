#include "client/src/chunk_sender.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "client/src/storage.h"
#include "wire/chunk.h"
#include "wire/crc32c.h"

namespace shoal::internal {

void ChunkSender::Add(const Array& array, int32_t index, int64_t offset) {
  sources_.push_back({&array, index, offset});
  SkipFinished();
}

void ChunkSender::SkipFinished() {
  while (current_ < sources_.size() &&
         sources_[current_].offset >= sources_[current_].array->byte_count()) {
    ++current_;
  }
}

bool ChunkSender::may_send() const {
  return !done() && static_cast<int64_t>(chunk_ends_.size()) < options_.credit_chunks;
}

transport::Frame ChunkSender::Next(absl::string_view rest) {
  if (done()) return transport::FrameOf(std::string(rest));
  SHOAL_CHECK(may_send());
  Source& source = sources_[current_];
  const int64_t bytes = std::min(options_.chunk_bytes, source.array->byte_count() - source.offset);
  const auto payload =
      source.array->data().subspan(static_cast<size_t>(source.offset), static_cast<size_t>(bytes));
  wire::ChunkHeader header{.array = source.index, .offset = source.offset, .crc32c = {}};
  if (options_.checksum) header.crc32c = wire::Crc32c(payload);
  transport::Frame frame;
  frame.parts.push_back(
      {wire::FrameChunk(rest, header, bytes), {payload, ArrayAccess::storage(*source.array)}});
  source.offset += bytes;
  sent_bytes_ += bytes;
  chunk_ends_.push_back(sent_bytes_);
  SkipFinished();
  return frame;
}

void ChunkSender::Acknowledge(int64_t total_bytes) {
  if (total_bytes <= acknowledged_bytes_ || total_bytes > sent_bytes_) return;
  acknowledged_bytes_ = total_bytes;
  while (!chunk_ends_.empty() && chunk_ends_.front() <= total_bytes) chunk_ends_.pop_front();
}

}  // namespace shoal::internal
