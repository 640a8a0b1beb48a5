#include "server/service/chunk_sender.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "wire/chunk.h"
#include "wire/crc32c.h"

namespace shoal::service {
namespace {

/// An operand without extents is no array, though its type, rank 0, has one element.
int64_t BytesToSend(const runtime::Operand& array) {
  return array.extents.empty() ? 0 : array.bytes();
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

transport::Frame ChunkSender::Next(const std::string& rest) {
  if (done()) return {rest, {}};
  const runtime::Operand& array = arrays_[array_];
  const int64_t begin = offset_;
  offset_ = std::min(end_, begin + options_.chunk_bytes);

  transport::Frame frame;
  wire::ChunkHeader header{static_cast<int32_t>(array_), begin, std::nullopt};
  uint32_t crc = 0;
  for (const runtime::Extent& extent : array.extents) {
    const int64_t extent_begin = extent.elements.begin * array.item_bytes();
    const int64_t from = std::max(begin, extent_begin);
    const int64_t to = std::min(offset_, extent.elements.end * array.item_bytes());
    if (from >= to) continue;
    const wire::ConstBytes bytes(extent.data + (from - extent_begin),
                                 static_cast<size_t>(to - from));
    if (options_.checksum) crc = wire::ExtendCrc32c(crc, bytes);
    frame.payloads.push_back({bytes, array.owner});
  }
  if (options_.checksum) header.crc32c = crc;
  frame.head = wire::FrameChunk(rest, header, offset_ - begin);
  SkipFinished();
  return frame;
}

void ChunkSender::SkipFinished() {
  while (!done() && offset_ == end_) {
    ++array_;
    offset_ = 0;
    end_ = done() ? 0 : BytesToSend(arrays_[array_]);
  }
}

}  // namespace shoal::service
